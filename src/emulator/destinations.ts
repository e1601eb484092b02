/** How the API answers an accepted call: `"whole"` is the rule, the others are scenarios. */
export type Reply = "whole" | "silent" | "stalled" | "dropped" | "garbled";

/** A refusal before anything is dialled. */
export interface Outage {
  readonly status: number;
  readonly detail: string;
}

/** What happens at the API when a number is called. */
export type ApiBehaviour = { readonly outage: Outage } | { readonly reply: Reply };

const apiBehaviours: Readonly<Record<string, ApiBehaviour>> = {
  "+12025550110": { outage: { status: 503, detail: "The service is unavailable." } },
  "+12025550111": { outage: { status: 429, detail: "Too many requests." } },
  "+12025550112": { reply: "silent" },
  "+12025550113": { reply: "stalled" },
  "+12025550114": { reply: "dropped" },
  "+12025550115": { reply: "garbled" },
};

/** The scenario that a caller picks by the number it dials. */
export const apiBehaviourOf = (to_number: string): ApiBehaviour =>
  apiBehaviours[to_number] ?? { reply: "whole" };
