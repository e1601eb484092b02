import {
  custom,
  type GenericSchema,
  lazy,
  literal,
  looseObject,
  optional,
  pipe,
  transform,
  unknown,
  variant,
} from "valibot";
import { isRecord, isText } from "../../lib/check.ts";
import { decoded } from "../../lib/encoding.ts";
import {
  type Fields,
  faultIn,
  isRule,
  missing,
  oneOf,
  type Rule,
  textRule,
} from "../../lib/rules.ts";

/** The first message on a media socket: which call it is, and how its audio is encoded. */
export interface MediaStart {
  /** The type of the message. */
  readonly type: "start";
  /** The account of the call. */
  readonly account_id: string;
  /** May differ from the id that `calls.create` returned: match by what the signed URL carries. */
  readonly call_id: string;
  /** The application of the account that the call belongs to, where a service has applications: as it came. */
  readonly call_app_id?: unknown;
  /** The same in every message of the stream. */
  readonly stream_id: string;
  /** Counts the service's messages from 1. */
  readonly message_id: number;
  /** The types of the further messages that the service sends, such as `played`: as it came. */
  readonly messages?: unknown;
  /** How the audio is encoded. */
  readonly data: {
    /** 16-bit linear PCM. */
    readonly encoding: "audio/l16";
    /** Samples per second. */
    readonly sample_rate: 8000 | 16000;
    readonly channels: 1;
  };
}

/** A piece of the callee's audio. */
export interface MediaAudio {
  /** The type of the message. */
  readonly type: "audio";
  /** The same in every message of the stream. */
  readonly stream_id: string;
  /** Counts the messages of the stream. */
  readonly message_id: number;
  /** The audio: samples in base64, as `start` describes them. */
  readonly data: { readonly audio_b64: string };
}

/**
 * How much of all the application's audio in the stream was played to the callee, or dropped. Sent when the audio of a message
 * begins or ends, when what a stall has delayed continues, and when audio is dropped.
 */
export interface MediaPlayed {
  /** The type of the message. */
  readonly type: "played";
  /** The same in every message of the stream. */
  readonly stream_id: string;
  /** Counts the messages of the stream. */
  readonly message_id: number;
  /** In milliseconds. */
  readonly data: { readonly ms: number };
}

/** A message of a type that this package doesn't know: it is passed to the application as it is. */
export interface MediaOther {
  /** The type of the message. */
  readonly type: string;
  /** Whatever else is in it. */
  readonly [field: string]: unknown;
}

/** Audio for the callee, played after the audio that the service has queued already. */
export interface MediaSpeech {
  /** The type of the message. */
  readonly type: "audio";
  /** Samples in base64, as `start` describes them. */
  readonly audio_b64: string;
  /** Identifies the message, so that it can be interrupted: unique in its stream. */
  readonly chunk_id?: string | number | undefined;
}

/** The same, in the form that some documents show. */
export interface NestedMediaSpeech {
  /** The type of the message. */
  readonly type: "audio";
  /** The fields of the flat form, except its type. */
  readonly data: Omit<MediaSpeech, "type">;
}

/** Stops the message with this id, if it is queued or playing. */
export interface MediaInterrupt {
  /** The type of the message. */
  readonly type: "interrupt";
  /** The id of a message of audio. */
  readonly chunk_id: string | number;
}

/** Discards all audio that the service has queued. */
export interface MediaClear {
  /** The type of the message. */
  readonly type: "clear";
}

/** Requests messages of the type `played`, from a service that names them in `start`. */
export interface MediaPlayedRequest {
  /** The type of the message. */
  readonly type: "played";
}

/** Thrown for a message on a media socket that breaks the protocol. The message is skipped; the call continues. */
export class FrameException extends Error {
  /** The literal name of the class, kept in minified code. */
  override readonly name = "FrameException" as const;
}

/** The most audio in one message, in characters of base64. (Four seconds of 16 kHz are 171 kB.) */
const maxAudio = 1_048_576;

/** The longest message that is parsed, in characters: 1 MiB of audio and its envelope. */
const maxMessage = maxAudio + 4096;

const unknownType = "must be start, audio or played";

const count: Rule = [
  (value) => Number.isInteger(value) && Number(value) >= 0,
  "must be a whole number from 0",
];

/** Whether a value has the alphabet and the length of audio: whether it decodes shows when it is decoded. */
const isAudio = (value: unknown): boolean =>
  isText(value) && value.length <= maxAudio && /^[A-Za-z0-9+/]*={0,2}$/.test(value);

const audioRule = "must be base64 of at most 1 MiB";
export const audioB64: Rule = [isAudio, audioRule];

/** A key of a telephone. */
export const keyRule: Rule = [
  (value) => isText(value) && /^[\dA-D*#]$/.test(value),
  "must be a key: 0 to 9, A to D, * or #",
];

/** The fields of the service's messages by their type. A session and `FromService` use the same table. */
const serviceFields: ReadonlyMap<unknown, Fields> = new Map<unknown, Fields>([
  [
    "start",
    {
      account_id: textRule,
      call_id: textRule,
      stream_id: textRule,
      message_id: count,
      data: {
        encoding: oneOf("audio/l16"),
        sample_rate: oneOf(8000, 16_000),
        channels: oneOf(1),
      },
    },
  ],
  ["audio", { stream_id: textRule, message_id: count, data: { audio_b64: audioB64 } }],
]);

/** The same, with what only some services send: `start` names it. */
const announcedFields = (): typeof serviceFields =>
  new Map([
    ...serviceFields,
    [
      "played",
      {
        stream_id: textRule,
        message_id: count,
        data: {
          ms: [(value) => Number(value) >= 0 && typeof value === "number", "must be 0 or more"],
        },
      },
    ],
  ]);

/** @throws {FrameException} with the first field that breaks its rule, by its path, and the rule */
export const checkFields = (message: Readonly<Record<string, unknown>>, fields: Fields): void => {
  const fault = faultIn(message, fields);
  if (fault) throw new FrameException(fault.join(" "));
};

/** What is wrong with a message of the service, without its values. */
export const faultOf = (message: unknown): string | undefined => {
  const fields = isRecord(message) ? serviceFields.get(message.type) : undefined;
  return isRecord(message) && fields
    ? faultIn(message, fields)?.join(" ")
    : `The message ${unknownType}`;
};

const isServiceMessage = (message: unknown): message is MediaStart | MediaAudio =>
  faultOf(message) === undefined;

/** Whether a message is of a type that this package doesn't know: a service may add some. */
export const isOther = (message: unknown): message is MediaOther =>
  isRecord(message) && isText(message.type) && !serviceFields.has(message.type);

/**
 * Parses a message in JSON.
 *
 * @throws {FrameException} when it isn't text, too long or no JSON
 */
export const parseJson = (message: unknown): unknown => {
  if (!isText(message)) throw new FrameException("The message isn't text");
  if (message.length > maxMessage) throw new FrameException("The message is too long");
  try {
    return JSON.parse(message);
  } catch {
    throw new FrameException("The message isn't JSON"); // The parser's own error quotes it.
  }
};

/**
 * Parses a message of the service.
 *
 * @throws {FrameException} with the rule that is broken, never a value
 */
export const parseMessage = (message: unknown): MediaStart | MediaAudio | MediaOther => {
  const parsed = parseJson(message);
  if (isOther(parsed) || isServiceMessage(parsed)) return parsed;
  throw new FrameException(faultOf(parsed));
};

/**
 * Decodes the audio of a message: whole 16-bit samples.
 *
 * @throws {FrameException} when it isn't base64, or ends within a sample
 */
export const decodeAudio = ({ data }: MediaAudio): Uint8Array<ArrayBuffer> => {
  let bytes: Uint8Array<ArrayBuffer>;
  try {
    bytes = decoded(data.audio_b64);
  } catch {
    throw new FrameException("data.audio_b64 isn't base64");
  }
  if (bytes.length % 2) throw new FrameException("data.audio_b64 ends within a sample");
  return bytes;
};

const schemaOf = (fields: Fields): GenericSchema => {
  const entries = Object.entries(fields).map(([name, what]) => [
    name,
    isRule(what) ? custom(...what) : schemaOf(what),
  ]);
  return looseObject(Object.fromEntries(entries), missing);
};

/**
 * The schema of what the service sends on a media socket. Unknown fields are kept: a service may add some. It has
 * the rules that a session parses by, and reports every broken one as valibot does.
 *
 * @example Parse the first message
 * ```ts
 * import { FromService } from "outdial/flows";
 * import { safeParse } from "valibot";
 *
 * const { success } = safeParse(FromService, { type: "hello" });
 * console.log(success); // false
 * ```
 * @see docs/flows.md
 */
export const FromService: GenericSchema<unknown, MediaStart | MediaAudio | MediaPlayed> = pipe(
  lazy((message): GenericSchema => {
    const fields = isRecord(message) ? announcedFields().get(message.type) : undefined;
    return fields ? schemaOf(fields) : custom(() => false, unknownType);
  }),
  custom<MediaStart | MediaAudio | MediaPlayed>(isRecord),
);

const chunkId = custom<string | number>(
  (value) => typeof value === "number" || (isText(value) && value.length <= 128),
  "must be a string of at most 128 characters, or a number",
);

/** A message whose audio is nested, in the flat form. */
const flatten = (message: unknown): unknown => {
  if (!isRecord(message) || message.type !== "audio" || !isRecord(message.data)) return message;
  const { data, ...others } = message;
  return { ...others, ...message.data };
};

/**
 * The schema of what an application sends on a media socket. Audio may be nested, as in `NestedMediaSpeech`; the
 * parsed message is flat.
 *
 * @example Check the messages of an application
 * ```ts
 * import { FromApplication } from "outdial/flows";
 * import { is, parse } from "valibot";
 *
 * console.log(is(FromApplication, { type: "clear" })); // true
 * console.log(is(FromApplication, { type: "interrupt" })); // false: its chunk_id is missing
 * console.log(parse(FromApplication, { type: "audio", data: { audio_b64: "AAA=" } })); // { type: "audio", audio_b64: "AAA=" }
 * ```
 * @see docs/flows.md
 */
export const FromApplication: GenericSchema<
  unknown,
  MediaSpeech | MediaInterrupt | MediaClear | MediaPlayedRequest
> = pipe(
  unknown(),
  transform(flatten),
  variant(
    "type",
    [
      looseObject(
        {
          type: literal("audio"),
          audio_b64: custom<string>(isAudio, audioRule),
          chunk_id: optional(chunkId),
        },
        missing,
      ),
      looseObject({ type: literal("interrupt"), chunk_id: chunkId }, missing),
      looseObject({ type: literal("clear") }),
      looseObject({ type: literal("played") }),
    ],
    "must be audio, interrupt, clear or played",
  ),
);
