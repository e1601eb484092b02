import {
  custom,
  type GenericSchema,
  literal,
  looseObject,
  optional,
  pipe,
  transform,
  unknown,
  variant,
} from "valibot";
import { isText } from "../../rules/kind.ts";
import { audioB64 } from "./fields.ts";

/** A name that the application gives to what it says: a string or a number, as it likes. */
const chunkId = /* @__PURE__ */ custom<string | number>(
  (value) => typeof value === "number" || (isText(value) && value.length <= 128),
  "must be a string of at most 128 characters, or a number",
);

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
            audio_b64: /* @__PURE__ */ custom<string>(audioB64.isKept, audioB64.rule),
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
