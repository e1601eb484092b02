/**
 * Calls a list from many machines: a campaign's contacts in Durable Objects, sharded by number.
 *
 * {@link CampaignShard} is a part of the campaign inside of a Durable Object of yours, which dials on its own alarm.
 * {@link createCampaign} and {@link campaignOf} control all shards from a Worker, and {@link statusHandler} passes each
 * notification to its shard. All claims of a number are in one place, so two shards never call it.
 *
 * @see docs/at-scale.md
 *
 * @module
 */
export { createCampaign } from "./create.ts";
export type {
  CampaignPlan,
  Sample,
  ServicePlan,
  ServicesPlan,
  ShardNamespace,
  ShardStub,
} from "./rpc.ts";
export {
  CampaignShard,
  type ShardContext,
  type ShardOptions,
  type ShardService,
  type ShardServices,
  type ShardStorage,
} from "./shard.ts";
export {
  campaignOf,
  type ShardAuditEntry,
  type ShardedCampaign,
  shardOf,
  statusHandler,
} from "./sharded.ts";
