import { DatabaseSync } from "node:sqlite";
import { parse } from "valibot";
import { vi } from "vitest";
import { CallEvent } from "../../../src/callbacks/event.ts";
import { verifyUrl } from "../../../src/callbacks/signed-url.ts";
import type { CallParams } from "../../../src/calls/params.ts";
import type { CallInput } from "../../../src/campaigns/index.ts";
import type { Param, Row } from "../../../src/campaigns/sqlite.ts";
import {
  type CampaignPlan,
  CampaignShard,
  campaignOf,
  createCampaign,
  type ShardContext,
  type ShardNamespace,
  type ShardOptions,
} from "../../../src/campaigns/workers/index.ts";
import { secret } from "./stage.ts";

/** What a platform gives a Durable Object, over a database in memory. Its alarm is a test's to fire. */
export interface TestObject extends ShardContext {
  readonly database: DatabaseSync;
  readonly alarm: number | null;
  /** Waits until requests are let in. */
  readonly ready: () => Promise<unknown>;
}

export const objectOf = (database = new DatabaseSync(":memory:")): TestObject => {
  let alarm: number | null = null;
  let gate: Promise<unknown> = Promise.resolve();
  return {
    database,
    ready: () => gate,
    get alarm() {
      return alarm;
    },
    blockConcurrencyWhile: (work) => {
      const done = work();
      gate = done;
      return done;
    },
    storage: {
      sql: {
        exec: (statement: string, ...values: Param[]) => ({
          toArray: () => database.prepare(statement).all(...values) as Row[],
        }),
      },
      transactionSync: (work) => {
        database.exec("begin");
        try {
          const result = work();
          database.exec("commit");
          return result;
        } catch (error) {
          database.exec("rollback");
          throw error;
        }
      },
      getAlarm: async () => alarm,
      setAlarm: async (at) => {
        alarm = at;
      },
      deleteAlarm: async () => {
        alarm = null;
      },
    },
  };
};

/** The way to shards in this process. */
export const namespaceOf = (
  shardAt: (name: string) => CampaignShard,
  objectAt: (name: string) => Pick<TestObject, "ready"> | undefined,
): ShardNamespace => ({
  idFromName: String,
  get: (name) => ({
    fetch: async (request) => {
      const shard = shardAt(String(name));
      await objectAt(String(name))?.ready();
      return shard.fetch(request);
    },
  }),
});

const realNow = Date.now.bind(Date);

const plan: CampaignPlan = {
  from_number: "+12025550199",
  flow_url: "https://app.test/flow",
  status_callback_url: "https://app.test/status",
  rate: 1_000,
  concurrency: 1_000,
  window: "always",
};

/** A campaign over objects whose alarms a test fires, on a clock that it sets forward. */
export const objectsOf = async (
  options: Partial<ShardOptions> = {},
  { shards = 1, ...more }: Partial<CampaignPlan> & { readonly shards?: number } = {},
) => {
  let ahead = 0;
  vi.spyOn(Date, "now").mockImplementation(() => realNow() + ahead);
  const posts: CallParams[] = [];
  const objects = new Map<string, TestObject>();
  const running = new Map<string, CampaignShard>();
  const all: ShardOptions = {
    secret,
    create: async (params, _options) => ({ id: `cs_${posts.push(params) - 1}` }),
    ...options,
  };
  const shardAt = (name: string): CampaignShard => {
    const object = objects.get(name) ?? objectOf();
    objects.set(name, object);
    const shard = running.get(name) ?? new CampaignShard(object, all);
    running.set(name, shard);
    return shard;
  };
  const namespace = namespaceOf(shardAt, (name) => objects.get(name));
  const campaign = await createCampaign(namespace, { ...plan, ...more }, { shards });
  const nextAlarm = (): readonly [name: string, at: number] =>
    [...objects]
      .map(([name, { alarm }]) => [name, alarm ?? Number.POSITIVE_INFINITY] as const)
      .reduce((one, other) => (other[1] < one[1] ? other : one));
  return {
    ...{ campaign, namespace, objects, posts },
    /** Fires the alarms that come within so many milliseconds, in their order. */
    play: async (milliseconds = 0): Promise<void> => {
      const end = Date.now() + milliseconds;
      for (;;) {
        const [name, at] = nextAlarm();
        if (at > end) break;
        ahead += Math.max(0, at - Date.now());
        const shard = shardAt(name);
        await objects.get(name)?.ready();
        await objects.get(name)?.storage.deleteAlarm();
        await shard.alarm();
      }
      ahead += Math.max(0, end - Date.now());
    },
    /** Ends every object, as a crash does: what they have stored stays. */
    crash: () => running.clear(),
    /** A notification of a POST arrives. */
    tell: async (post: number, type: string, data: object = {}): Promise<boolean> => {
      const context = await verifyUrl(posts[post]?.status_callback_url ?? "", { secret });
      const event = parse(CallEvent, { type, call_id: `cs_${post}`, data });
      return campaign.note({ context, event });
    },
    /** The flow of a POST's call has learned something. */
    hear: async (post: number, input: Partial<CallInput>): Promise<boolean> => {
      const context = await verifyUrl(posts[post]?.flow_url ?? "", { secret });
      const given = { call: { call_id: `cs_${post}` }, context, answers: {}, ...input };
      return campaignOf(namespace, String(context.campaign)).note(given);
    },
  };
};
