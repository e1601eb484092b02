import {
  custom,
  type GenericSchema,
  literal,
  optional,
  safeParse,
  strictObject,
  variant,
} from "valibot";
import { presence } from "../../rules/check.ts";

/** What the telephone that is called does. */
export type Outcome =
  /** Somebody answers. */
  | {
      readonly outcome: "answer";
      /** Milliseconds of ringing, instead of the option `ringFor`. */
      readonly ringFor?: number | undefined;
      /**
       * Milliseconds from the answer to the moment at which they hang up, or `"midway"` for the
       * middle of the first action. Left out, they stay until the flow ends.
       */
      readonly hangUpAfter?: number | "midway" | undefined;
    }
  /** It is busy, or can't be reached: it never rings. */
  | { readonly outcome: "busy" }
  | { readonly outcome: "unreachable" }
  /** It rings, and is rejected. */
  | { readonly outcome: "reject"; readonly ringFor?: number | undefined }
  /** It rings and rings; it can be answered from outside. */
  | {
      readonly outcome: "no_answer";
      /** Milliseconds of ringing, instead of the option `answerWithin`. */
      readonly ringFor?: number | undefined;
    };

/** Milliseconds that anything may take here: 31 years, which every date and every clock can add. */
export const longest: number = 10 ** 12;

const isTime = (value: unknown): boolean =>
  typeof value === "number" && value >= 0 && value <= longest;

const milliseconds = /* @__PURE__ */ custom<number>(
  isTime,
  "must be 0 ms or more and at most 10 ** 12 ms",
);

const rings = { ringFor: /* @__PURE__ */ optional(milliseconds) };

const ending = /* @__PURE__ */ custom<number | "midway">(
  (value) => value === "midway" || isTime(value),
  'must be "midway", or 0 ms or more and at most 10 ** 12 ms',
);

const OutcomeSchema: GenericSchema<unknown, Outcome> = /* @__PURE__ */ variant(
  "outcome",
  [
    /* @__PURE__ */ strictObject(
      {
        outcome: /* @__PURE__ */ literal("answer"),
        ...rings,
        hangUpAfter: /* @__PURE__ */ optional(ending),
      },
      presence,
    ),
    /* @__PURE__ */ strictObject({ outcome: /* @__PURE__ */ literal("busy") }, presence),
    /* @__PURE__ */ strictObject({ outcome: /* @__PURE__ */ literal("unreachable") }, presence),
    /* @__PURE__ */ strictObject(
      { outcome: /* @__PURE__ */ literal("reject"), ...rings },
      presence,
    ),
    /* @__PURE__ */ strictObject(
      { outcome: /* @__PURE__ */ literal("no_answer"), ...rings },
      presence,
    ),
  ],
  "must be answer, busy, unreachable, reject or no_answer",
);

/**
 * What `onCall` has given.
 *
 * @throws {TypeError} which rule it breaks
 */
export const outcomeIn = (given: unknown): Outcome => {
  const { success, output, issues } = safeParse(OutcomeSchema, Object(given));
  if (success) return output;
  const [{ path, message }] = issues;
  throw new TypeError(`${path?.map(({ key }) => String(key)).join(".")} ${message}`);
};
