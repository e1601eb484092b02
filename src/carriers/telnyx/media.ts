import type { CarrierMedia, MediaCodec } from "../../flows/media/carrier-media.ts";
import { carrierMedia, WholeFrames } from "../../flows/media/carrier-stream.ts";
import { startVerifier } from "../../flows/media/signed-start.ts";
import { mediaStreamCodec } from "../xml/media-streams.ts";

/** Bytes of PCM in 20 ms, the shortest message of audio that Telnyx takes. */
const frameBytes = 320;

/** The messages of one stream. */
export const mediaCodec = (): MediaCodec => {
  const frames = new WholeFrames();
  const codec = mediaStreamCodec({
    streamId: "stream_id",
    accountId: "user_id",
    callId: "call_control_id",
    parameters: "custom_parameters",
    format: "media_format",
    mulaw: "PCMU",
    rate: "sample_rate",
    sendsStreamId: false,
  });
  const audio = (pcm: Uint8Array, id: string) => (pcm.length ? codec.audio(pcm, id) : []);
  return {
    ...codec,
    audio: (pcm, id) => audio(frames.take(pcm, frameBytes), id),
    flush: () => audio(frames.flush(frameBytes), ""),
    clear: () => {
      frames.clear();
      return codec.clear();
    },
  };
};

/**
 * Telnyx's media streaming. The query of the `ws_url` comes back as parameters of `start`.
 *
 * @see https://developers.telnyx.com/docs/voice/programmable-voice/media-streaming
 */
export const mediaSide = (): CarrierMedia => carrierMedia(mediaCodec, startVerifier);
