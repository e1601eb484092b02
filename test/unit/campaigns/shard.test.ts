import { DatabaseSync } from "node:sqlite";
import { afterEach, expect, it, vi } from "vitest";
import type { Call } from "../../../src/calls/call.ts";
import type { Param, Row } from "../../../src/campaigns/sqlite.ts";
import {
  CampaignShard,
  createCampaign,
  type ShardContext,
  type ShardNamespace,
  type ShardOptions,
} from "../../../src/campaigns/workers/index.ts";
import { people, secret } from "./stage.ts";

afterEach(() => {
  vi.restoreAllMocks();
});

/** What a platform gives a Durable Object, over a database in memory. Its alarm is a test's to fire. */
const contextOf = (): ShardContext => {
  const database = new DatabaseSync(":memory:");
  let alarm: number | null = null;
  return {
    blockConcurrencyWhile: (work) => work(),
    storage: {
      sql: {
        exec: (statement: string, ...values: Param[]) => ({
          toArray: () => database.prepare(statement).all(...values) as Row[],
        }),
      },
      transactionSync: (work) => {
        database.exec("begin");
        const result = work();
        database.exec("commit");
        return result;
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

/** A campaign with one shard. */
const begin = async (create: ShardOptions["create"]) => {
  const shard = new CampaignShard(contextOf(), { secret, create });
  const namespace: ShardNamespace = { idFromName: (name) => name, get: () => shard };
  const plan = {
    from_number: "+12025550199",
    flow_url: "https://app.test/flow",
    status_callback_url: "https://app.test/status",
    rate: 1_000,
    concurrency: 1_000,
    window: "always",
  } as const;
  return { shard, campaign: await createCampaign(namespace, plan, { shards: 1 }) };
};

it("a shard has six POSTs under way at most: the platform sends no more at once", async () => {
  let most = 0;
  let posts = 0;
  const answers: ((call: Call) => void)[] = [];
  const { shard, campaign } = await begin((_params, _options) => {
    posts++;
    const call = new Promise<Call>((answer) => answers.push(answer));
    most = Math.max(most, answers.length);
    // The answers come once no further POST does.
    setTimeout(() => answers.shift()?.({ id: "cs_1" }), 20);
    return call;
  });
  await campaign.add(people(40));
  await campaign.resume();
  await shard.alarm();
  expect(await campaign.progress()).toMatchObject({ calling: 40 });
  expect({ posts, most }).toEqual({ posts: 40, most: 6 });
});

it("a shard's create that drops notAfter is a warning when the campaign begins", async () => {
  const warn = vi.spyOn(console, "warn").mockReturnValue();
  await begin(async () => ({ id: "cs_1" }));
  expect(warn).toHaveBeenCalledWith(expect.stringContaining("after the calling hours"));
  warn.mockClear();
  await begin(async (_params, _options) => ({ id: "cs_1" }));
  expect(warn).not.toHaveBeenCalled();
});
