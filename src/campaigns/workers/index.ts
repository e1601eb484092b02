/**
 * Calls a list from many machines: a campaign's contacts in Durable Objects, sharded by number.
 *
 * @module
 */
export { type CampaignPlan, createCampaign } from "./create.ts";
export type { Sample } from "./progress/history.ts";
export type { ShardContext, ShardStorage } from "./shard/context.ts";
export { CampaignShard, type ShardOptions } from "./shard/shard.ts";
export { campaignOf, type ShardedCampaign } from "./sharded.ts";
export { shardOf } from "./sharding/number.ts";
export { statusHandler } from "./status.ts";
export type { ShardNamespace, ShardStub } from "./wire/namespace.ts";
