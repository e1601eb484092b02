import { custom, type GenericSchema, lazy, looseObject, pipe } from "valibot";
import { audioB64, type Fields, faultIn, isRule, missing, oneOf, order, text } from "./fields.ts";

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

const start: Fields = {
  account_id: text,
  call_id: text,
  stream_id: text,
  message_id: order,
  data: {
    encoding: /* @__PURE__ */ oneOf("audio/l16"),
    sample_rate: /* @__PURE__ */ oneOf(8000, 16_000),
    channels: /* @__PURE__ */ oneOf(1),
  },
};

const audio: Fields = { stream_id: text, message_id: order, data: { audio_b64: audioB64 } };

const known: ReadonlyMap<unknown, Fields> = /* @__PURE__ */ new Map([
  ["start", start],
  ["audio", audio],
]);

const unknownType = "must be start or audio";

/** What is wrong with a message, without its values: undefined when nothing is. */
export const faultOf = (message: unknown): string | undefined => {
  const fields = known.get(Object(message).type);
  return fields ? faultIn(Object(message), fields) : `The message ${unknownType}`;
};

/** Whether a message is one of the service's. */
export const isFrame = (message: unknown): message is MediaStart | MediaAudio =>
  faultOf(message) === undefined;

const schemaOf = (fields: Fields): GenericSchema => {
  const entries = Object.entries(fields).map(([name, what]) => [
    name,
    isRule(what) ? custom(what.isKept, what.rule) : schemaOf(what),
  ]);
  return looseObject(Object.fromEntries(entries), missing);
};

/**
 * What the service sends on a media socket. Unknown fields are kept: a service may grow. It has the rules by
 * which a session reads, with all that is wrong in valibot's own words for it.
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
export const FromService: GenericSchema<unknown, MediaStart | MediaAudio> = /* @__PURE__ */ pipe(
  /* @__PURE__ */ lazy((message): GenericSchema => {
    const fields = known.get(Object(message).type);
    return fields ? schemaOf(fields) : custom(() => false, unknownType);
  }),
  /* @__PURE__ */ custom<MediaStart | MediaAudio>(isFrame),
);

/** A message of a type that this package doesn't know: it goes to the application as it is. */
export interface MediaOther {
  /** Tells the messages apart. */
  readonly type: string;
  /** Whatever else is in it. */
  readonly [field: string]: unknown;
}
