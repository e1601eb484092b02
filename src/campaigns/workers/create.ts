import { BadParametersException } from "../../errors.ts";
import { fail } from "../../lib/check.ts";
import { hex } from "../../lib/encoding.ts";
import { defaultConcurrency, defaultRate } from "../options.ts";
import { pollsFor } from "../polling.ts";
import {
  ask,
  type CampaignPlan,
  type ServicePlan,
  type ServicesPlan,
  type ServicesShare,
  type ShardNamespace,
  type Share,
} from "./rpc.ts";
import { campaignOf, type ShardedCampaign } from "./sharded.ts";

/** What a shard gets of a whole: whole numbers, so that the parts never add up to more. */
const part = (whole: number, shard: number, shards: number): number => {
  const even = Math.floor(whole);
  const rest = shard === 0 ? whole - even : 0;
  return Math.floor(even / shards) + (shard < even % shards ? 1 : 0) + rest;
};

/** Where the notifications of a shard's calls go: the path is signed, so it can't be another's. */
const statusUrlOf = (url: string, id: string, shard: number): string => {
  if (!URL.canParse(url)) return url; // The shard refuses it by its own rule.
  const own = new URL(url);
  own.pathname = `${own.pathname.replace(/\/$/, "")}/${id}/${shard}`;
  return own.href;
};

/** The options that every shard gets as they are. */
type Undivided =
  | ("from_number" | "flow_url" | "flowName" | "record" | "idempotent" | "variables" | "prefixes")
  | ("window" | "settleTimeout" | "attempts" | "retryOn" | "retryDelay" | "callBacks");

/** Options of which each is named above: a new one that limits all shards together must be divided. */
type Whole<Options> = { [Name in keyof Options]: Name extends Undivided ? Options[Name] : never };

type Plan = CampaignPlan | ServicesPlan;

/** What limits each service of a plan. */
const servicesIn = (
  plan: Plan,
): readonly (Pick<CampaignPlan, "rate" | "concurrency"> | ServicePlan)[] =>
  "services" in plan ? plan.services : [plan];

/** The part of the options of a service that limit all shards together. */
const dividedOf = (
  {
    rate = defaultRate,
    concurrency = defaultConcurrency,
    status_callback_url,
  }: Pick<CampaignPlan, "rate" | "concurrency" | "status_callback_url">,
  id: string,
  shard: number,
  shards: number,
) => ({
  status_callback_url: statusUrlOf(status_callback_url, id, shard),
  rate: part(rate, shard, shards),
  wholeRate: rate,
  pollsPerSecond: pollsFor(concurrency) / shards,
  concurrency: part(concurrency, shard, shards),
});

/**
 * Divides a plan: pace, slots and calls a day are shared out, and nobody has to be asked on the way
 * of a call.
 *
 * @throws {BadParametersException} when there are more shards than calls a second, slots or calls a day
 */
export function sharesOf(plan: CampaignPlan, id: string, shards: number): readonly Share[];
export function sharesOf(
  plan: Plan,
  id: string,
  shards: number,
): readonly (Share | ServicesShare)[];
export function sharesOf(
  plan: Plan,
  id: string,
  shards: number,
): readonly (Share | ServicesShare)[] {
  const { perDay, until, ...undated } = plan;
  const limits = [
    ...servicesIn(plan).flatMap(({ rate = defaultRate, concurrency = defaultConcurrency }) =>
      Object.entries({ rate, concurrency }),
    ),
    ["perDay", perDay] as const,
  ];
  const issues = limits.flatMap(([param, value]) => {
    if (value === undefined) return [];
    // A text would be divided like a number, past whatever bound its caller has set to numbers.
    if (typeof value !== "number") return [{ param, message: "must be a number" }];
    if (shards === 1 || value >= shards) return [];
    return [{ param, message: `must be at least the number of shards, ${shards}` }];
  });
  // A number, or a text without a zone, would be read as some date.
  if (until !== undefined && !(until instanceof Date)) {
    issues.push({ param: "until", message: "must be a date" });
  }
  if (issues.length > 0) throw new BadParametersException(issues);
  return Array.from({ length: shards }, (_, shard) => {
    const facts = {
      id: `${id}/${shard}`,
      ...(perDay !== undefined && { perDay: part(perDay, shard, shards) }),
      ...(until && { until: String(new Date(until).toJSON()) }),
    };
    if ("services" in undated) {
      const { services, ...rest } = undated;
      const whole: Whole<typeof rest> = rest;
      const own = services.map((each) => ({ ...each, ...dividedOf(each, id, shard, shards) }));
      return { ...whole, ...facts, services: own };
    }
    const { rate, concurrency, status_callback_url, ...rest } = undated;
    const whole: Whole<typeof rest> = rest;
    return { ...whole, ...facts, ...dividedOf(undated, id, shard, shards) };
  });
}

/** The most shards of a campaign: each of them is asked for its progress. */
const most = 256;

/** Calls a second that one shard places easily: a platform lets it have six connections at a time. */
const easily = 10;

const shardsFor = (plan: Plan): number => {
  const rate = servicesIn(plan).reduce((sum, { rate = defaultRate }) => sum + rate, 0);
  return Math.min(most, Math.max(1, Math.ceil(rate / easily)));
};

/**
 * Makes a campaign over Durable Objects: its plan is divided over shards, which keep it. It is paused
 * until `resume`; add contacts before or after that.
 *
 * @param namespace - the binding of the class that extends `CampaignShard`
 * @param plan - who calls, how fast, when and how often, by one service or by `services`; its notifications go to
 * `<status_callback_url>/<id>/<shard>`, which `statusHandler` answers
 * @param options - `shards`: how many, for good; one for each 10 calls a second otherwise
 * @returns the campaign; keep its `id`
 * @throws {BadParametersException} (`placed: "no"`) when the plan breaks a rule, or there are more
 * shards than calls a second, slots or calls a day
 * @throws what the platform throws when an object can't be reached; nobody is called by that
 *
 * @example Begin a campaign in a Worker
 * ```ts
 * import { createCampaign, type ShardNamespace } from "outdial/campaigns/workers";
 *
 * export const begin = async (SHARDS: ShardNamespace): Promise<string> => {
 *   const campaign = await createCampaign(SHARDS, {
 *     from_number: "+12025550199",
 *     flow_url: "https://app.test/flow",
 *     status_callback_url: "https://app.test/status",
 *     rate: 40, // so four shards
 *     concurrency: 400,
 *     window: { days: "mon-fri", from: "09:00", to: "20:00", timezone: "Europe/Berlin" },
 *   });
 *   await campaign.add([{ to_number: "+12025550100" }]);
 *   await campaign.resume();
 *   return campaign.id;
 * };
 * ```
 * @see examples/campaign
 */
export const createCampaign = async (
  namespace: ShardNamespace,
  plan: Plan,
  { shards = shardsFor(plan) }: { readonly shards?: number | undefined } = {},
): Promise<ShardedCampaign> => {
  if (!Number.isSafeInteger(shards) || shards < 1 || shards > most) {
    fail("shards", `must be a whole number from 1 to ${most}`);
  }
  const id = `${shards}-${hex(crypto.getRandomValues(new Uint8Array(12)))}`;
  const shares = sharesOf(plan, id, shards);
  await Promise.all(shares.map((share, shard) => ask(namespace, `${id}/${shard}`, "open", share)));
  return campaignOf(namespace, id);
};
