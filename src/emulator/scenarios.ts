import {
  boolean,
  custom,
  type GenericSchema,
  literal,
  optional,
  picklist,
  safeParse,
  strictObject,
  variant,
} from "valibot";
import { isRecord, presence } from "../lib/check.ts";

/** What the callee's telephone does. */
export type Outcome =
  /** Somebody answers. */
  | {
      readonly outcome: "answer";
      /** Milliseconds of ringing, instead of the option `ringDuration`. */
      readonly ringDuration?: number | undefined;
      /**
       * When the callee hangs up, in milliseconds since the answer; `"midway"` for the middle of the
       * first action. Without it the callee stays until the flow ends.
       */
      readonly hangUpAfter?: number | "midway" | undefined;
      /**
       * What answers, for carriers that detect answering machines.
       *
       * @defaultValue `"human"`
       */
      readonly answeredBy?: "human" | "machine" | undefined;
      /**
       * Milliseconds of a machine's greeting.
       *
       * @defaultValue 4 000
       */
      readonly greeting?: number | undefined;
      /**
       * Whether a machine beeps after its greeting.
       *
       * @defaultValue `true`
       */
      readonly beep?: boolean | undefined;
    }
  /** It is busy, or can't be reached: it never rings. */
  | { readonly outcome: "busy" }
  | { readonly outcome: "unreachable" }
  /** It rings, and the callee rejects the call. */
  | { readonly outcome: "reject"; readonly ringDuration?: number | undefined }
  /** It rings and nobody answers; `Emulator.answer` still can. */
  | {
      readonly outcome: "no_answer";
      /** Milliseconds of ringing, instead of the option `answerTimeout`. */
      readonly ringDuration?: number | undefined;
    };

/** The longest duration that an outcome may have, in milliseconds: 31 years. */
export const maxOutcomeDuration: number = 10 ** 12;

const isDuration = (value: unknown): boolean =>
  typeof value === "number" && value >= 0 && value <= maxOutcomeDuration;

const milliseconds = custom<number>(isDuration, "must be 0 ms or more and at most 10 ** 12 ms");

const rings = { ringDuration: optional(milliseconds) };

const hangUpAfter = custom<number | "midway">(
  (value) => value === "midway" || isDuration(value),
  'must be "midway", or 0 ms or more and at most 10 ** 12 ms',
);

const OutcomeSchema: GenericSchema<unknown, Outcome> = variant(
  "outcome",
  [
    strictObject(
      {
        outcome: literal("answer"),
        ...rings,
        hangUpAfter: optional(hangUpAfter),
        answeredBy: optional(picklist(["human", "machine"], "must be human or machine")),
        greeting: optional(milliseconds),
        beep: optional(boolean("must be true or false")),
      },
      presence,
    ),
    strictObject({ outcome: literal("busy") }, presence),
    strictObject({ outcome: literal("unreachable") }, presence),
    strictObject({ outcome: literal("reject"), ...rings }, presence),
    strictObject({ outcome: literal("no_answer"), ...rings }, presence),
  ],
  "must be answer, busy, unreachable, reject or no_answer",
);

/**
 * Checks what `onCall` returned.
 *
 * @throws {TypeError} naming the rule that it breaks
 */
export const parseOutcome = (value: unknown): Outcome => {
  const { success, output, issues } = safeParse(OutcomeSchema, isRecord(value) ? value : {});
  if (success) return output;
  const [{ path, message }] = issues;
  throw new TypeError(`${path?.map(({ key }) => String(key)).join(".")} ${message}`);
};

/** How the API responds to a call that it has placed. */
export type ApiResponse =
  | "whole"
  | "silent"
  | "stalled"
  | "dropped"
  | "garbled"
  /** It drops the connection before the call is placed. */
  | "unplaced"
  /** It drops the connection, and that of the next request with the same `Idempotency-Key`, too. */
  | "dropped_twice"
  /** 503. */
  | "failed";

/** What happens when a number is called. */
export interface Scenario {
  /** A short name. */
  readonly name: string;
  /** The number, in E.164, of the fictional range. */
  readonly to_number: string;
  /** What happens, for a list or a page. */
  readonly description: string;
  /** The API refuses the call with this status. */
  readonly outage?: { readonly status: number; readonly detail: string };
  /**
   * How the API responds to a call that it has placed.
   *
   * @defaultValue `"whole"`
   */
  readonly response?: ApiResponse;
  /**
   * What the callee's telephone does.
   *
   * @defaultValue it answers
   */
  readonly outcome?: Outcome;
}

/**
 * What happens by the number that is called. Any other number is answered, as the first one is.
 *
 * @example List the scenarios
 * ```ts
 * import { scenarios } from "outdial/emulator";
 *
 * for (const { to_number, description } of scenarios) console.log(to_number, description);
 * ```
 * @see docs/emulator.md
 */
export const scenarios: readonly Scenario[] = [
  { name: "answered", to_number: "+12025550100", description: "answers after ringing" },
  {
    name: "busy",
    to_number: "+12025550101",
    description: "busy",
    outcome: { outcome: "busy" },
  },
  {
    name: "no-answer",
    to_number: "+12025550102",
    description: "rings, and nobody answers",
    outcome: { outcome: "no_answer" },
  },
  {
    name: "rejected",
    to_number: "+12025550103",
    description: "rings, and the callee rejects",
    outcome: { outcome: "reject" },
  },
  {
    name: "unreachable",
    to_number: "+12025550104",
    description: "unreachable",
    outcome: { outcome: "unreachable" },
  },
  {
    name: "hung-up",
    to_number: "+12025550105",
    description: "answers, and hangs up in the middle of the flow",
    outcome: { outcome: "answer", hangUpAfter: "midway" },
  },
  {
    name: "machine",
    to_number: "+12025550106",
    description: "an answering machine answers, greets for 4 s, and beeps",
    outcome: { outcome: "answer", answeredBy: "machine" },
  },
  {
    name: "unavailable",
    to_number: "+12025550110",
    description: "the API responds 503 with Retry-After: 1",
    outage: { status: 503, detail: "The service is unavailable." },
  },
  {
    name: "rate-limited",
    to_number: "+12025550111",
    description: "the API responds 429 with Retry-After: 1",
    outage: { status: 429, detail: "Too many requests." },
  },
  {
    name: "silent",
    to_number: "+12025550112",
    description: "the call is placed, and the API never responds",
    response: "silent",
  },
  {
    name: "stalled",
    to_number: "+12025550113",
    description: "the call is placed, and the API stalls in its response body",
    response: "stalled",
  },
  {
    name: "dropped",
    to_number: "+12025550114",
    description: "the call is placed, and the API drops the connection",
    response: "dropped",
  },
  {
    name: "garbled",
    to_number: "+12025550115",
    description: "the call is placed, and the API responds 202 with a body that is not JSON",
    response: "garbled",
  },
  {
    name: "lost",
    to_number: "+12025550116",
    description: "the API drops the connection before the call is placed",
    response: "unplaced",
  },
  {
    name: "dropped-twice",
    to_number: "+12025550117",
    description: "the call is placed, and the API drops the connection, with one key twice",
    response: "dropped_twice",
  },
  {
    name: "failed",
    to_number: "+12025550118",
    description: "the call is placed, and the API responds 503",
    response: "failed",
  },
];

const byNumber = new Map(scenarios.map((scenario) => [scenario.to_number, scenario]));

/** The behaviour of a number, its defaults filled in. */
export const scenarioOf = (
  to_number: string,
): Pick<Scenario, "outage"> & Required<Pick<Scenario, "response" | "outcome">> => ({
  response: "whole",
  outcome: { outcome: "answer" },
  ...byNumber.get(to_number),
});
