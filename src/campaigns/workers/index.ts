/**
 * Calls a list from many machines: a campaign's contacts in Durable Objects, sharded by number.
 *
 * @module
 */
export { type CampaignPlan, createCampaign } from "./create.ts";
export type { Sample } from "./history.ts";
export type { ShardNamespace, ShardStub } from "./namespace.ts";
export { shardOf } from "./number.ts";
export { CampaignShard, type ShardContext, type ShardOptions, type ShardStorage } from "./shard.ts";
export { campaignOf, type ShardedCampaign } from "./sharded.ts";
export { statusHandler } from "./status.ts";
