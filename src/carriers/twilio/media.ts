import type { CarrierMedia, MediaCodec } from "../../flows/media/carrier-media.ts";
import { carrierMedia } from "../../flows/media/carrier-stream.ts";
import { startVerifier } from "../../flows/media/signed-start.ts";
import { mediaStreamCodec } from "../xml/media-streams.ts";

/** The messages of one Media Stream. */
export const mediaCodec = (): MediaCodec =>
  mediaStreamCodec({
    streamId: "streamSid",
    accountId: "accountSid",
    callId: "callSid",
    parameters: "customParameters",
    format: "mediaFormat",
    mulaw: "audio/x-mulaw",
    rate: "sampleRate",
    sendsStreamId: true,
  });

/**
 * Twilio's Media Streams. The query of the `ws_url` comes back as parameters of `start`, because Twilio drops it.
 *
 * @see https://www.twilio.com/docs/voice/media-streams/websocket-messages
 */
export const mediaSide = (): CarrierMedia => carrierMedia(mediaCodec, startVerifier);
