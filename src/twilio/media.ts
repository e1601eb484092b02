import { carrierMedia } from "../flows/media/carrier-stream.ts";
import {
  audioB64,
  type Fields,
  FrameException,
  faultIn,
  oneOf,
  parseJson,
} from "../flows/media/messages.ts";
import { startVerifier } from "../flows/media/signed-start.ts";
import { fieldsOf, isRecord, isText, type Rule, textRule } from "../lib/check.ts";
import { base64, decoded } from "../lib/encoding.ts";
import { decodeMulaw, encodeMulaw } from "../lib/mulaw.ts";
import type { MediaCodec, MediaInput, MediaSide } from "../service.ts";

/** The longest id, or name of a mark, in characters. */
const maxName = 1000;

const nameRule: Rule = [
  (value) => isText(value) && value.length <= maxName,
  "must be a string of at most 1000 characters",
];

/** The longest query that `signUrl` makes, in characters, and the parameters that hold it. */
const maxToken = 2083;
const maxParameters = 32;

/** The fields that are read of each message, by its `event`. */
const eventFields: ReadonlyMap<unknown, Fields> = new Map<unknown, Fields>([
  [
    "start",
    {
      streamSid: nameRule,
      start: {
        accountSid: nameRule,
        callSid: nameRule,
        mediaFormat: {
          encoding: oneOf("audio/x-mulaw"),
          sampleRate: oneOf(8000),
          channels: oneOf(1),
        },
      },
    },
  ],
  ["media", { streamSid: textRule, media: { payload: audioB64 } }],
  ["mark", { streamSid: textRule, mark: { name: nameRule } }],
  ["stop", { streamSid: textRule }],
]);

/** A text at the end of a path of fields that were checked. */
const textAt = (message: unknown, ...path: readonly string[]): string =>
  String(path.reduce<unknown>((value, name) => fieldsOf(value)[name], message));

/**
 * The query of the signed `ws_url`: the values of `outdial.0`, `outdial.1` and so on, one after the other. Empty, so
 * that it is refused, when one is no text or they are longer than any that was signed.
 */
const tokenIn = (parameters: unknown): string | undefined => {
  const given = fieldsOf(parameters);
  let token: string | undefined;
  for (let at = 0; at < maxParameters && Object.hasOwn(given, `outdial.${at}`); at++) {
    const part = given[`outdial.${at}`];
    if (!isText(part)) return "";
    token = (token ?? "") + part;
    if (token.length > maxToken) return "";
  }
  return token;
};

const samplesOf = (pcm: Uint8Array): Int16Array =>
  pcm.byteOffset % 2
    ? new Int16Array(pcm.slice().buffer)
    : new Int16Array(pcm.buffer, pcm.byteOffset, pcm.length >> 1);

/** The messages of one Media Stream. */
export const mediaCodec = (): MediaCodec => {
  let streamSid: string | undefined;
  const message = (event: string, more: object = {}) => [
    JSON.stringify({ event, streamSid, ...more }),
  ];

  const started = (given: Readonly<Record<string, unknown>>): MediaInput => {
    const { customParameters } = fieldsOf(given.start);
    const token = tokenIn(customParameters);
    const stream_id = textAt(given, "streamSid");
    streamSid ??= stream_id;
    return {
      type: "start",
      token,
      start: {
        type: "start",
        account_id: textAt(given, "start", "accountSid"),
        call_id: textAt(given, "start", "callSid"),
        stream_id,
        message_id: 1,
        data: { encoding: "audio/l16", sample_rate: 8000, channels: 1 },
      },
    };
  };
  const audio = (given: Readonly<Record<string, unknown>>): MediaInput => {
    let codes: Uint8Array;
    try {
      codes = decoded(textAt(given, "media", "payload"));
    } catch {
      throw new FrameException("media.payload isn't base64");
    }
    return { type: "audio", bytes: new Uint8Array(decodeMulaw(codes).buffer) };
  };

  return {
    pcmPerByte: 1.5,
    decode: (data) => {
      const given = parseJson(data);
      if (!isRecord(given) || !isText(given.event)) {
        throw new FrameException("The message must have an event");
      }
      const { event } = given;
      const fields = eventFields.get(event);
      const fault = fields && faultIn(given, fields);
      if (fault) throw new FrameException(fault);
      if (event === "start") return started(given);
      if (fields && given.streamSid !== streamSid) throw new FrameException("streamSid is another");
      // With `<Start><Stream>` the track of what the callee hears comes too.
      const { track = "inbound" } = fieldsOf(given.media);
      if (event === "media" && track === "inbound") return audio(given);
      if (event === "mark") return { type: "played", mark: textAt(given, "mark", "name") };
      if (event === "stop") return { type: "stop" };
      return { type: "other", message: { ...given, type: event } };
    },
    audio: (pcm) => message("media", { media: { payload: base64(encodeMulaw(samplesOf(pcm))) } }),
    clear: () => message("clear"),
    mark: (name) => message("mark", { mark: { name } }),
  };
};

/**
 * Twilio's Media Streams. The query of the `ws_url` comes back as parameters of `start`, because Twilio drops it.
 *
 * @see https://www.twilio.com/docs/voice/media-streams/websocket-messages
 */
export const mediaSide = (): MediaSide => carrierMedia(mediaCodec, startVerifier);
