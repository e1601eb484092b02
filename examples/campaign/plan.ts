import type { CampaignPlan } from "outdial/campaigns/workers";
import type { Caller, Config } from "./config.ts";

/** What a caller may choose; the rules of the values are those of the options of `outdial/campaigns`. */
const fields = [
  "rate",
  "concurrency",
  "attempts",
  "retryOn",
  "retryAfter",
  "window",
  "settle",
  "perDay",
  "variables",
] as const;

/** What is asked for, and refused: a field and why. */
export class PlanError extends Error {}

/** Anything but a number would be read as one later, or pass every bound. */
const atMost = (value: unknown, most: number, name: string): void => {
  if (typeof value !== "number" || Number.isNaN(value)) {
    throw new PlanError(`${name} must be a number`);
  }
  if (value > most) {
    throw new PlanError(`${name} must be at most ${most} for this token`);
  }
};

/**
 * The plan of a campaign out of what a caller asks for: who calls and whom is the Worker's own to say.
 *
 * @throws {PlanError} when there is a field that nobody may choose, or more than this caller may
 */
export const planOf = (
  { name, shards, until, ...asked }: Readonly<Record<string, unknown>>,
  caller: Caller,
  { fromNumber, publicUrl, record }: Config,
): CampaignPlan => {
  const strange = Object.keys(asked).filter((field) => !fields.some((known) => known === field));
  if (strange.length > 0) throw new PlanError(`${strange.join(", ")}: no such field`);
  const { rate = Math.min(1, caller.rate), perDay = caller.per_day } = asked;
  atMost(rate, caller.rate, "rate");
  atMost(perDay, caller.per_day, "perDay");
  // What it is of, the shards check before anything is stored.
  const plan = { ...asked, rate, perDay } as unknown as CampaignPlan;
  return {
    ...plan,
    ...(until !== undefined && { until: new Date(String(until)) }),
    from_number: fromNumber,
    flow_url: `${publicUrl}/flow`,
    status_callback_url: `${publicUrl}/status`,
    prefixes: caller.prefixes,
    record,
  };
};
