import {
  type CustomSchema,
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

/** The most audio in one message, in characters of base64. (Four seconds of 16 kHz are 171 kB.) */
const mostAudio = 1_048_576;

/** Whether it decodes is found out by decoding it. */
const audioB64 = /* @__PURE__ */ custom<string>(
  (value) =>
    typeof value === "string" && value.length <= mostAudio && /^[A-Za-z0-9+/]*={0,2}$/.test(value),
  "must be base64 of at most 1 MiB",
);

const isText = (value: unknown): value is string => typeof value === "string";

const text = /* @__PURE__ */ custom<string>(isText, "must be a string");

const exactly = <const Value>(wanted: Value): CustomSchema<Value, string> =>
  custom((value) => value === wanted, `must be ${wanted}`);

const order = /* @__PURE__ */ custom<number>(
  (value) => Number.isInteger(value) && Number(value) >= 0,
  "must be a whole number from 0",
);

/** A name that the application gives to what it says: a string or a number, as it likes. */
const chunkId = /* @__PURE__ */ custom<string | number>(
  (value) => typeof value === "number" || (isText(value) && value.length <= 128),
  "must be a string of at most 128 characters, or a number",
);

/** The first message on a media socket: which call it is, and how its audio is written. */
export interface MediaStart {
  /** Tells the messages apart. */
  readonly type: "start";
  /** Whose call it is. */
  readonly account_id: string;
  /** May differ from the id that `calls.create` gave: match by what the signed URL carries. */
  readonly call_id: string;
  /** The application of the account that the call belongs to, where a service has such: as it came. */
  readonly call_app_id?: unknown;
  /** The same in every message of the stream. */
  readonly stream_id: string;
  /** Counts the service's messages from 1. */
  readonly message_id: number;
  /** How the audio is encoded. */
  readonly data: {
    /** 16-bit linear PCM. */
    readonly encoding: "audio/l16";
    /** Samples a second. */
    readonly sample_rate: 8000 | 16000;
    readonly channels: 1;
  };
}

/** A piece of what the person on the line says. */
export interface MediaAudio {
  /** Tells the messages apart. */
  readonly type: "audio";
  /** The same in every message of the stream. */
  readonly stream_id: string;
  /** Counts the messages of the stream. */
  readonly message_id: number;
  /** The audio: samples in base64, as `start` says. */
  readonly data: { readonly audio_b64: string };
}

const start = /* @__PURE__ */ looseObject(
  {
    type: /* @__PURE__ */ exactly("start"),
    account_id: text,
    call_id: text,
    stream_id: text,
    message_id: order,
    data: /* @__PURE__ */ looseObject(
      {
        encoding: /* @__PURE__ */ exactly("audio/l16"),
        sample_rate: /* @__PURE__ */ custom<8000 | 16_000>(
          (value) => value === 8000 || value === 16_000,
          "must be 8000 or 16000",
        ),
        channels: /* @__PURE__ */ exactly(1),
      },
      "is missing",
    ),
  },
  "is missing",
);

const audio = /* @__PURE__ */ looseObject(
  {
    type: /* @__PURE__ */ exactly("audio"),
    stream_id: text,
    message_id: order,
    data: /* @__PURE__ */ looseObject({ audio_b64: audioB64 }, "is missing"),
  },
  "is missing",
);

/** Takes nothing, and says of which types it would. */
const neither = /* @__PURE__ */ custom<MediaStart | MediaAudio>(
  () => false,
  "must be start or audio",
);

/**
 * What the service sends on a media socket. Unknown fields are kept: a service may grow.
 *
 * @example Read the first message
 * ```ts
 * import { FromService } from "outdial/flows";
 * import { safeParse } from "valibot";
 *
 * const { success } = safeParse(FromService, { type: "hello" });
 * console.log(success); // false
 * ```
 * @see docs/flows.md
 */
export const FromService: GenericSchema<unknown, MediaStart | MediaAudio> = /* @__PURE__ */ lazy(
  (message) => {
    const { type } = Object(message);
    return type === "start" ? start : type === "audio" ? audio : neither;
  },
);

/** A message of a type that this package doesn't know: it goes to the application as it is. */
export interface MediaOther {
  /** Tells the messages apart. */
  readonly type: string;
  /** Whatever else is in it. */
  readonly [field: string]: unknown;
}

/** Says something to the person on the line, after what is already waiting to be said. */
export interface MediaSpeech {
  /** Tells the messages apart. */
  readonly type: "audio";
  /** Samples in base64, encoded as `start` says. */
  readonly audio_b64: string;
  /** Names the message, so that it can be interrupted: unique in its stream. */
  readonly chunk_id?: string | number | undefined;
}

/** The same, in the form that some documents show. */
export interface NestedMediaSpeech {
  /** Tells the messages apart. */
  readonly type: "audio";
  /** What the flat form has beside its type. */
  readonly data: Omit<MediaSpeech, "type">;
}

/** Stops what is being said, if it has this name. */
export interface MediaInterrupt {
  /** Tells the messages apart. */
  readonly type: "interrupt";
  /** Which of the messages of audio. */
  readonly chunk_id: string | number;
}

/** Throws away everything that waits to be said. */
export interface MediaClear {
  /** Tells the messages apart. */
  readonly type: "clear";
}

/** A message whose audio is nested, as the flat one that it stands for. */
const flat = (message: unknown): unknown => {
  const { type, data, ...others } = Object(message);
  return type === "audio" && Object(data) === data ? { type, ...others, ...data } : message;
};

/**
 * What an application sends on a media socket. Audio may be nested, as in `NestedMediaSpeech`; what
 * is parsed is flat.
 *
 * @example Check what an agent wrote
 * ```ts
 * import { FromApplication } from "outdial/flows";
 * import { is, parse } from "valibot";
 *
 * console.log(is(FromApplication, { type: "clear" })); // true
 * console.log(is(FromApplication, { type: "interrupt" })); // false: of what?
 * console.log(parse(FromApplication, { type: "audio", data: { audio_b64: "AAA=" } })); // { type: "audio", audio_b64: "AAA=" }
 * ```
 * @see docs/flows.md
 */
export const FromApplication: GenericSchema<unknown, MediaSpeech | MediaInterrupt | MediaClear> =
  /* @__PURE__ */ pipe(
    /* @__PURE__ */ unknown(),
    /* @__PURE__ */ transform(flat),
    /* @__PURE__ */ variant(
      "type",
      [
        /* @__PURE__ */ looseObject(
          {
            type: /* @__PURE__ */ literal("audio"),
            audio_b64: audioB64,
            chunk_id: /* @__PURE__ */ optional(chunkId),
          },
          "is missing",
        ),
        /* @__PURE__ */ looseObject(
          { type: /* @__PURE__ */ literal("interrupt"), chunk_id: chunkId },
          "is missing",
        ),
        /* @__PURE__ */ looseObject({ type: /* @__PURE__ */ literal("clear") }),
      ],
      "must be audio, interrupt or clear",
    ),
  );
