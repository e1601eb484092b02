/** How the API answers an accepted call: `"whole"` is the rule, the others are scenarios. */
export type Reply = "whole" | "silent" | "stalled" | "dropped" | "garbled";

/** A refusal before anything is dialled. */
interface Outage {
  readonly status: number;
  readonly detail: string;
}

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

/** All that goes by the number that is called. */
export interface Destination {
  /** The API has an outage instead of taking the call. */
  readonly outage?: Outage;
  readonly reply: Reply;
  readonly outcome: Outcome;
}

const ordinary: Destination = { reply: "whole", outcome: { outcome: "answer" } };

const scenarios: ReadonlyMap<string, Partial<Destination>> = /* @__PURE__ */ new Map<
  string,
  Partial<Destination>
>([
  ["+12025550101", { outcome: { outcome: "busy" } }],
  ["+12025550102", { outcome: { outcome: "no_answer" } }],
  ["+12025550103", { outcome: { outcome: "reject" } }],
  ["+12025550104", { outcome: { outcome: "unreachable" } }],
  ["+12025550105", { outcome: { outcome: "answer", hangUpAfter: "midway" } }],
  ["+12025550110", { outage: { status: 503, detail: "The service is unavailable." } }],
  ["+12025550111", { outage: { status: 429, detail: "Too many requests." } }],
  ["+12025550112", { reply: "silent" }],
  ["+12025550113", { reply: "stalled" }],
  ["+12025550114", { reply: "dropped" }],
  ["+12025550115", { reply: "garbled" }],
]);

/** The scenario that a caller picks by the number it dials. */
export const destinationOf = (to_number: string): Destination => ({
  ...ordinary,
  ...scenarios.get(to_number),
});
