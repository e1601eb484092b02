import type { MarkupCarrier } from "../markup/flow.ts";
import { type MediaForm, mulawCodec, sampleRate, tracks } from "../markup/media.ts";

/** The messages of Twilio's Media Streams. */
export const mediaStreamsCodec: MarkupCarrier["openStream"] = ({ call, accountSid }, stream) => {
  const { streamSid, sides, parameters } = stream;
  const callSid = call.id;
  const form: MediaForm = {
    connected: { event: "connected", protocol: "Call", version: "1.0.0" },
    start: {
      start: {
        accountSid,
        streamSid,
        callSid,
        tracks: sides.map((side) => tracks[side]),
        mediaFormat: { encoding: "audio/x-mulaw", sampleRate, channels: 1 },
        customParameters: parameters,
      },
    },
    stop: { stop: { accountSid, callSid } },
    dtmf: (digit) => ({ dtmf: { track: "inbound_track", digit } }),
    message: (event, sequenceNumber, fields) => ({ event, sequenceNumber, ...fields, streamSid }),
    check: (message) => {
      if (message.streamSid !== streamSid) throw new TypeError("streamSid must be the stream's");
    },
  };
  return mulawCodec(form, stream);
};
