import { type CustomSchema, custom, type GenericSchema, lazy, looseObject } from "valibot";
import { isText } from "../../rules/kind.ts";
import { audioB64 } from "./fields.ts";

const text = /* @__PURE__ */ custom<string>(isText, "must be a string");

const exactly = <const Value>(wanted: Value): CustomSchema<Value, string> =>
  custom((value) => value === wanted, `must be ${wanted}`);

const order = /* @__PURE__ */ custom<number>(
  (value) => Number.isInteger(value) && Number(value) >= 0,
  "must be a whole number from 0",
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
