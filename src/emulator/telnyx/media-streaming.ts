import type { MarkupCarrier } from "../markup/flow.ts";
import type { StreamPlan } from "../markup/line.ts";
import { type MediaForm, mulawCodec, sampleRate, sidesOfTrack } from "../markup/media.ts";
import { sessionIdOf } from "./sids.ts";

/** Reads the attributes of a `Stream`: audio is PCMU, and what is played comes by RTP payloads. */
export const planStream: MarkupCarrier["planStream"] = (attributes) => {
  const { track = "inbound_track", codec = "default", bidirectionalMode = "mp3" } = attributes;
  const { bidirectionalCodec = "PCMU", bidirectionalSamplingRate = "8000" } = attributes;
  const sides = sidesOfTrack.get(track);
  if (!sides) return { attribute: "track", rule: `is ${track}` };
  if (codec !== "default" && codec !== "PCMU") {
    return { attribute: "codec", rule: `is ${codec}: only PCMU is emulated` };
  }
  const plan: StreamPlan = { sides, isBidirectional: true };
  if (bidirectionalMode !== "rtp") {
    const unplayable = 'media is MP3 without bidirectionalMode="rtp", which is not emulated';
    return { ...plan, unplayable };
  }
  if (bidirectionalCodec !== "PCMU" || bidirectionalSamplingRate !== "8000") {
    const rule = `is ${bidirectionalCodec} at ${bidirectionalSamplingRate} Hz: only PCMU at 8000 Hz is emulated`;
    return { attribute: "bidirectionalCodec", rule };
  }
  return plan;
};

/** The codes of Telnyx's errors on a socket. */
const invalidMedia = { code: 100_004, title: "invalid_media" };
const malformedFrame = { code: 100_003, title: "malformed_frame" };

/** The messages of Telnyx's media streaming. */
export const mediaStreamingCodec: MarkupCarrier["openStream"] = ({ call, accountSid }, stream) => {
  const { streamSid: stream_id, parameters } = stream;
  const { from_number: from, to_number: to } = call.params;
  const subject = { user_id: accountSid, call_control_id: call.id };
  const form: MediaForm = {
    connected: { event: "connected", version: "1.0.0" },
    start: {
      start: {
        ...subject,
        call_session_id: sessionIdOf(call.id),
        from,
        to,
        tags: [],
        custom_parameters: parameters,
        media_format: { encoding: "PCMU", sample_rate: sampleRate, channels: 1 },
      },
    },
    stop: { stop: subject },
    dtmf: (digit) => ({
      occurred_at: new Date(call.timeline.now()).toISOString(),
      dtmf: { digit },
    }),
    message: (event, sequence_number, fields) => ({ event, sequence_number, ...fields, stream_id }),
    error: (detail) => ({
      event: "error",
      payload: { ...(detail.startsWith("media") ? invalidMedia : malformedFrame), detail },
      stream_id,
    }),
  };
  return mulawCodec(form, stream);
};
