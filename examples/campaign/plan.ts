import type { CampaignPlan } from "outdial/campaigns/workers";
import type { Caller, Config } from "./config.ts";

/** The options of `outdial/campaigns` that a caller may choose. */
const fields = [
  "rate",
  "concurrency",
  "attempts",
  "retryOn",
  "retryDelay",
  "callBacks",
  "window",
  "settleTimeout",
  "perDay",
  "variables",
] as const;

/** A field that breaks a rule. */
interface PlanIssue {
  readonly param: string;
  readonly message: string;
}

/** A plan that is refused. */
export class PlanError extends Error {
  readonly issues: readonly PlanIssue[];

  constructor(message: string, issues: readonly PlanIssue[] = []) {
    super(message);
    this.issues = issues;
  }
}

/** Only numbers: other types could be converted later, or pass every comparison. */
const atMost = (value: unknown, most: number, param: string): void => {
  const refuse = (message: string): never => {
    throw new PlanError(`${param} ${message}`, [{ param, message }]);
  };
  if (typeof value !== "number" || Number.isNaN(value)) refuse("must be a number");
  else if (value > most) refuse(`must be at most ${most} for this token`);
};

/** A date with its time zone: that of the Worker is another than its caller's. */
const dateOf = (value: unknown): Date => {
  const text = typeof value === "string" ? value : "";
  const date = new Date(text);
  const [day = ""] = text.split("T");
  const isDate = /^\d{4}-\d\d-\d\dT\d\d:\d\d.*(Z|[+-]\d\d:\d\d)$/.test(text);
  // JavaScript reads February 31 as March 3.
  if (isDate && !Number.isNaN(date.getTime()) && new Date(day).toISOString().startsWith(day)) {
    return date;
  }
  const message = 'must be a date, time and zone, such as "2026-12-24T12:00Z" or "…T12:00+01:00"';
  throw new PlanError(`until ${message}`, [{ param: "until", message }]);
};

/**
 * The plan of a campaign. The Worker sets who calls and which prefixes are allowed.
 *
 * @throws {PlanError} if a field is unknown, or exceeds the limits of the caller
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
  // The shards validate the values before anything is stored.
  const plan = { ...asked, rate, perDay } as unknown as CampaignPlan;
  return {
    ...plan,
    ...(until !== undefined && { until: dateOf(until) }),
    from_number: fromNumber,
    flow_url: `${publicUrl}/flow`,
    status_callback_url: `${publicUrl}/status`,
    prefixes: caller.prefixes,
    record,
  };
};
