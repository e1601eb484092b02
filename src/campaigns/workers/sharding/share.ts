import { BadParametersException } from "../../../errors.ts";
import type { CampaignOptions } from "../../options.ts";

/** What a campaign is to do, but for what only the Worker's own environment knows. */
export type CampaignPlan = Omit<
  CampaignOptions,
  "secret" | "create" | "service" | "notified" | "clock"
>;

/** A shard's part of a plan, as it is stored. */
export type Share = Omit<CampaignPlan, "until"> & {
  /** ISO 8601. */
  readonly until?: string | undefined;
};

/** What a shard gets of a whole: whole numbers, so that the parts never add up to more. */
const part = (whole: number, shard: number, shards: number): number => {
  const even = Math.floor(whole);
  const rest = shard === 0 ? whole - even : 0;
  return Math.floor(even / shards) + (shard < even % shards ? 1 : 0) + rest;
};

/** Where the notifications of a shard's calls go: the path is signed, so it can't be another's. */
const statusUrlOf = (url: string, id: string, shard: number): string => {
  if (!URL.canParse(url)) return url; // The ledger's own rule says what is wrong with it.
  const own = new URL(url);
  own.pathname = `${own.pathname.replace(/\/$/, "")}/${id}/${shard}`;
  return own.href;
};

const defaults = { rate: 1, concurrency: 10 } as const;

/**
 * Divides a plan: pace, slots and calls a day are shared out, and nobody has to be asked on the way
 * of a call.
 *
 * @throws {BadParametersException} when there are more shards than calls a second, slots or calls a day
 */
export const sharesOf = (plan: CampaignPlan, id: string, shards: number): readonly Share[] => {
  const { perDay, until, status_callback_url, ...rest } = plan;
  const { rate = defaults.rate, concurrency = defaults.concurrency } = plan;
  const issues = Object.entries({ rate, concurrency, perDay }).flatMap(([param, value]) => {
    if (value === undefined) return [];
    // A text would be divided like a number, past whatever bound its caller has set to numbers.
    if (typeof value !== "number") return [{ param, message: "must be a number" }];
    if (shards === 1 || value >= shards) return [];
    return [{ param, message: `must be at least the number of shards, ${shards}` }];
  });
  if (issues.length > 0) throw new BadParametersException(issues);
  return Array.from({ length: shards }, (_, shard) => ({
    ...rest,
    status_callback_url: statusUrlOf(status_callback_url, id, shard),
    rate: part(rate, shard, shards),
    concurrency: part(concurrency, shard, shards),
    ...(perDay !== undefined && { perDay: part(perDay, shard, shards) }),
    ...(until && { until: String(new Date(until).toJSON()) }),
  }));
};
