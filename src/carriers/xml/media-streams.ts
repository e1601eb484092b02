import type { MediaCodec, MediaInput } from "../../flows/media/carrier-media.ts";
import {
  audioB64,
  checkFields,
  FrameException,
  keyRule,
  parseJson,
} from "../../flows/media/messages.ts";
import { tokenIn } from "../../flows/media/signed-start.ts";
import { fieldsOf, isRecord, isText } from "../../lib/check.ts";
import { base64, decoded } from "../../lib/encoding.ts";
import { decodeMulaw, encodeMulaw } from "../../lib/mulaw.ts";
import { type Fields, oneOf, type Rule, textRule } from "../../lib/rules.ts";

/** The longest id, or name of a mark, in characters. */
const maxName = 1000;

const nameRule: Rule = [
  (value) => isText(value) && value.length <= maxName,
  "must be a string of at most 1000 characters",
];

/** The names that a carrier has for what is in its messages. */
export interface StreamNames {
  /** The field of each message that has the stream's id, such as `streamSid`. */
  readonly streamId: string;
  /** The fields of `start`: the account, the call and the parameters. */
  readonly accountId: string;
  readonly callId: string;
  readonly parameters: string;
  /** The field of `start` with the format, the encoding of μ-law in it, and its field of the rate. */
  readonly format: string;
  readonly mulaw: string;
  readonly rate: string;
  /** The media messages to the carrier, and `mark` and `clear`, have the stream's id too. */
  readonly sendsStreamId: boolean;
}

/** The fields that are read of each message, by its `event`. */
const fieldsFor = (names: StreamNames): ReadonlyMap<unknown, Fields> =>
  new Map<unknown, Fields>([
    [
      "start",
      {
        [names.streamId]: nameRule,
        start: {
          [names.accountId]: nameRule,
          [names.callId]: nameRule,
          [names.format]: {
            encoding: oneOf(names.mulaw),
            [names.rate]: oneOf(8000),
            channels: oneOf(1),
          },
        },
      },
    ],
    ["media", { [names.streamId]: textRule, media: { payload: audioB64 } }],
    ["mark", { [names.streamId]: textRule, mark: { name: nameRule } }],
    ["dtmf", { [names.streamId]: textRule, dtmf: { digit: keyRule } }],
    ["stop", { [names.streamId]: textRule }],
  ]);

/** A text at the end of a path of fields that were checked. */
const textAt = (message: unknown, ...path: readonly string[]): string =>
  String(path.reduce<unknown>((value, name) => fieldsOf(value)[name], message));

const samplesOf = (pcm: Uint8Array): Int16Array =>
  pcm.byteOffset % 2
    ? new Int16Array(pcm.slice().buffer)
    : new Int16Array(pcm.buffer, pcm.byteOffset, pcm.length >> 1);

/**
 * The messages of one media socket in Twilio's protocol, which Telnyx speaks with other names: JSON, audio as μ-law of
 * 8 kHz in base64.
 */
export const mediaStreamCodec = (names: StreamNames): MediaCodec => {
  const eventFields = fieldsFor(names);
  let streamId: string | undefined;
  const message = (event: string, more: object = {}) => [
    JSON.stringify({ event, ...(names.sendsStreamId && { [names.streamId]: streamId }), ...more }),
  ];

  const started = (given: Readonly<Record<string, unknown>>): MediaInput => {
    const token = tokenIn(fieldsOf(given.start)[names.parameters]);
    const stream_id = textAt(given, names.streamId);
    streamId ??= stream_id;
    return {
      type: "start",
      token,
      start: {
        type: "start",
        account_id: textAt(given, "start", names.accountId),
        call_id: textAt(given, "start", names.callId),
        stream_id,
        message_id: 1,
        data: { encoding: "audio/l16", sample_rate: 8000, channels: 1 },
      },
    };
  };
  const inputOf = (given: Readonly<Record<string, unknown>>): MediaInput => {
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
      if (fields) checkFields(given, fields);
      if (event === "start") return started(given);
      if (fields && given[names.streamId] !== streamId)
        throw new FrameException(
          streamId === undefined ? "The stream has not started" : `${names.streamId} is another`,
        );
      // With `<Start><Stream>` the track of the output comes too.
      const { track = "inbound" } = fieldsOf(given.media);
      if (event === "media" && track === "inbound") return inputOf(given);
      if (event === "dtmf") return { type: "key", key: textAt(given, "dtmf", "digit") };
      if (event === "mark") return { type: "played", mark: textAt(given, "mark", "name") };
      if (event === "stop") return { type: "stop" };
      return { type: "other", message: { ...given, type: event } };
    },
    audio: (pcm) => message("media", { media: { payload: base64(encodeMulaw(samplesOf(pcm))) } }),
    clear: () => message("clear"),
    mark: (name) => message("mark", { mark: { name } }),
  };
};
