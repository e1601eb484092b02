/**
 * Calls a list from many machines: a campaign's contacts in Durable Objects, sharded by number.
 *
 * @module
 */
export { createCampaign } from "./create.ts";
export type { CampaignPlan, Sample, ShardNamespace, ShardStub } from "./rpc.ts";
export { CampaignShard, type ShardContext, type ShardOptions, type ShardStorage } from "./shard.ts";
export { campaignOf, type ShardedCampaign, shardOf, statusHandler } from "./sharded.ts";
