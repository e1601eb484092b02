import { hex } from "../../bytes/hex.ts";
import { refuse } from "../../rules/refuse.ts";
import { campaignOf, type ShardedCampaign } from "./sharded.ts";
import { type CampaignPlan, sharesOf } from "./sharding/share.ts";
import { ask, type ShardNamespace } from "./wire/namespace.ts";

export type { CampaignPlan };

/** The most shards of a campaign: each of them is asked for its progress. */
const most = 256;

/** Calls a second that one shard places easily: a platform lets it have six connections at a time. */
const easily = 10;

const shardsFor = ({ rate = 1 }: CampaignPlan): number =>
  Math.min(most, Math.max(1, Math.ceil(rate / easily)));

/**
 * Makes a campaign over Durable Objects: its plan is divided over shards, which keep it. It is paused
 * until `resume`; add contacts before or after that.
 *
 * @param namespace - the binding of the class that extends `CampaignShard`
 * @param plan - who calls, how fast, when and how often; its notifications go to
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
  plan: CampaignPlan,
  { shards = shardsFor(plan) }: { readonly shards?: number | undefined } = {},
): Promise<ShardedCampaign> => {
  if (!Number.isSafeInteger(shards) || shards < 1 || shards > most) {
    refuse("shards", `must be a whole number from 1 to ${most}`);
  }
  const id = `${shards}-${hex(crypto.getRandomValues(new Uint8Array(12)))}`;
  const shares = sharesOf(plan, id, shards);
  await Promise.all(shares.map((share, shard) => ask(namespace, `${id}/${shard}`, "open", share)));
  return campaignOf(namespace, id);
};
