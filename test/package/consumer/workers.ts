import { end, get } from "outdial/calls";
import type { CallInput, EndedCalls, UrlCheck } from "outdial/campaigns";
import {
  type CampaignPlan,
  CampaignShard,
  campaignOf,
  createCampaign,
  type Sample,
  type ServicePlan,
  type ServicesPlan,
  type ShardAuditEntry,
  type ShardContext,
  type ShardedCampaign,
  type ShardNamespace,
  type ShardOptions,
  type ShardService,
  type ShardServices,
  type ShardStorage,
  type ShardStub,
  shardOf,
  statusHandler,
} from "outdial/campaigns/workers";
import { calls } from "outdial/fetch";
import { params } from "./params.ts";

const options: ShardOptions = {
  secret: "a secret that was made at random",
  create: (own) => calls.create(own, { apiKey: "key", baseUrl: "https://voice.test" }),
  get: (id) => get(id, { apiKey: "key", baseUrl: "https://voice.test" }),
  end: (id) => end(id, { apiKey: "key", baseUrl: "https://voice.test" }),
};

/** A part of a campaign, over the storage that the runtime gives it. */
export class Shard extends CampaignShard {
  readonly storage: ShardStorage;
  constructor(ctx: ShardContext) {
    super(ctx, options);
    this.storage = ctx.storage;
  }
}

const { from_number, flow_url, status_callback_url, to_number } = params;
const plan: CampaignPlan = { from_number, flow_url, status_callback_url, window: "always" };

export const start = async (shards: ShardNamespace): Promise<readonly Sample[]> => {
  const campaign: ShardedCampaign = await createCampaign(shards, plan, { shards: 4 });
  await campaign.add([{ to_number }]);
  return campaignOf(shards, campaign.id).history();
};

export const stopCalls = async (shards: ShardNamespace, given: CallInput): Promise<EndedCalls> => {
  const campaign = campaignOf(shards, String(given.context.campaign));
  const isOurs: boolean = await campaign.note(given);
  const isAgreed: boolean = isOurs && (await campaign.callBack(to_number, new Date()));
  const names: readonly string[] = isAgreed ? await campaign.answerNames() : [];
  return names.length > 0 ? campaign.endCalls() : { ended: 0, failed: [], unclear: [] };
};

export const admit = async (shards: ShardNamespace): Promise<readonly UrlCheck[]> => {
  const campaign = campaignOf(shards, "1-0123456789abcdef01234567");
  const count: number = await campaign.unblock([to_number], "asked for a call");
  return count > 0 ? campaign.check({ fetch }) : [];
};

export const log = async (shards: ShardNamespace): Promise<readonly string[]> => {
  const lines: string[] = [];
  for await (const entry of campaignOf(shards, "1-0123456789abcdef01234567").audit()) {
    const { shard, at, event }: ShardAuditEntry = entry;
    lines.push(`${shard} ${at} ${event}`);
  }
  return lines;
};

export const shard = (shards: ShardNamespace): ShardStub =>
  shards.get(shards.idFromName(`${shardOf(to_number, 4)}`));

export const serve = (shards: ShardNamespace): ((request: Request) => Promise<Response>) =>
  statusHandler(shards, { secret: options.secret });

const { secret, ...ofMain } = options;
const byMain: ShardService = ofMain;
const bySeveral: ShardServices = { secret, services: { main: byMain } };

/** A part of a campaign that calls by several services. */
export class SharedShard extends CampaignShard {
  constructor(ctx: ShardContext) {
    super(ctx, bySeveral);
  }
}

const main: ServicePlan = { name: "main", from_number, flow_url, status_callback_url };
const planOfSeveral: ServicesPlan = { services: [main], window: "always" };
export const startSeveral = (shards: ShardNamespace): Promise<ShardedCampaign> =>
  createCampaign(shards, planOfSeveral, { shards: 4 });
