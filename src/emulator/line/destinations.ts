import type { Outcome } from "./outcome.ts";

/** How the API answers an accepted call: `"whole"` is the rule, the others are scenarios. */
export type Reply = "whole" | "silent" | "stalled" | "dropped" | "garbled";

/** A refusal before anything is dialled. */
interface Outage {
  readonly status: number;
  readonly detail: string;
}

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
