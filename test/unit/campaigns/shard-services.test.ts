import { afterEach, expect, it, vi } from "vitest";
import { signUrl, verifyUrl } from "../../../src/callbacks/signed-url.ts";
import type { CallAtUrls } from "../../../src/calls/params.ts";
import { sharesOf } from "../../../src/campaigns/workers/create.ts";
import {
  CampaignShard,
  createCampaign,
  type ServicesPlan,
  type ShardService,
  statusHandler,
} from "../../../src/campaigns/workers/index.ts";
import { ServiceException } from "../../../src/errors.ts";
import { namespaceOf, objectOf, type TestObject } from "./objects.ts";
import { people, secret } from "./stage.ts";

afterEach(() => {
  vi.restoreAllMocks();
});

const serviceOf = (name: string, rate: number, concurrency: number) => ({
  ...{ name, rate, concurrency, from_number: "+12025550199" },
  flow_url: `https://app.test/${name}/flow`,
  status_callback_url: `https://app.test/${name}/status`,
});

const plan: ServicesPlan = {
  services: [serviceOf("main", 1_000, 2), serviceOf("spare", 1_000, 100)],
  window: "always",
};

interface Post {
  readonly service: string;
  readonly params: CallAtUrls;
  readonly key: string | undefined;
}

/** A campaign over objects, by two services; a test fires its alarms. */
const stageOf = async (more: Partial<ServicesPlan> = {}, shards = 2) => {
  const realNow = Date.now.bind(Date);
  const time = { ahead: 0 };
  vi.spyOn(Date, "now").mockImplementation(() => realNow() + time.ahead);
  const posts: Post[] = [];
  const ended: string[] = [];
  const answer = { isLost: false };
  const functionsOf = (service: string): ShardService => ({
    account: service,
    create: async (params, { idempotencyKey: key, beforeSend }) => {
      await beforeSend?.();
      const id = `${service}_${posts.push({ service, params, key }) - 1}`;
      if (answer.isLost) throw new ServiceException("HTTP 503", { placed: "maybe", code: 503 });
      return { id };
    },
    end: async (id) => {
      ended.push(`${service} ends ${id.split("_")[0]}`);
    },
  });
  const services = { main: functionsOf("main"), spare: functionsOf("spare") };
  const objects = new Map<string, TestObject>();
  const running = new Map<string, CampaignShard>();
  const shardAt = (name: string): CampaignShard => {
    const object = objects.get(name) ?? objectOf();
    objects.set(name, object);
    const shard = running.get(name) ?? new CampaignShard(object, { secret, services });
    running.set(name, shard);
    return shard;
  };
  const namespace = namespaceOf(shardAt, (name) => objects.get(name));
  const campaign = await createCampaign(namespace, { ...plan, ...more }, { shards });
  const contextOf = (post: number) =>
    verifyUrl(posts[post]?.params.status_callback_url ?? "", { secret });
  return {
    ...{ campaign, namespace, posts, ended, answer, contextOf },
    crash: () => running.clear(),
    /** Fires the alarm of each object, so many times. */
    play: async (rounds = 10, milliseconds = 1_000) => {
      for (let round = 0; round < rounds; round++) {
        time.ahead += milliseconds;
        for (const [name, object] of objects) {
          const shard = shardAt(name);
          await object.ready();
          await shard.alarm();
        }
      }
    },
  };
};

it("rate and slots of each service are shared out among shards, and add up to themselves", () => {
  const services = [serviceOf("main", 7, 20), serviceOf("spare", 10.5, 11)];
  const shares = sharesOf({ ...plan, services }, "id", 4);
  const own = shares.map((share) => ("services" in share ? share.services : []));
  const sum = (values: readonly unknown[]) =>
    values.reduce<number>((total, value) => total + Number(value), 0);
  for (const [index, { rate, concurrency }] of services.entries()) {
    expect(sum(own.map((all) => all[index]?.rate))).toBe(rate);
    expect(sum(own.map((all) => all[index]?.concurrency))).toBe(concurrency);
    for (const all of own) expect(all[index]?.wholeRate).toBe(rate);
  }
  expect(own[3]?.[1]?.status_callback_url).toBe("https://app.test/spare/status/id/3");
  const few = { ...plan, services: [serviceOf("main", 7, 20), serviceOf("spare", 3, 20)] };
  expect(() => sharesOf(few, "id", 4)).toThrow("rate");
});

it("a notification counts for the service whose handler has verified it, in each shard", async () => {
  const { campaign, namespace, posts, contextOf, play, ended } = await stageOf();
  await campaign.add(people(12));
  await campaign.resume();
  await play();
  expect(posts).toHaveLength(12);
  const live = posts.findIndex(({ service }) => service === "main");
  expect(posts.filter(({ service }) => service === "main")).toHaveLength(2);
  const context = await contextOf(live);
  const data = { answers: { visit: "1" }, call: { call_id: "x" }, context };
  await expect(campaign.note(data)).rejects.toThrow("service must be the name");
  expect(await campaign.note(data, { service: "spare" })).toBe(false);
  expect(await campaign.note(data, { service: "main" })).toBe(true);
  const request = async (name: string) => {
    const url = new URL(posts[live]?.params.status_callback_url ?? "");
    const signed = await signUrl(`${url.origin}${url.pathname}`, { secret, context });
    const body = JSON.stringify({ type: "call.completed", call_id: "main_0", data: {} });
    const handler = statusHandler(namespace, { secret, serviceName: name });
    return (await handler(new Request(signed, { method: "POST", body }))).status;
  };
  expect(await request("spare")).toBe(204);
  expect(await campaign.progress()).toMatchObject({ completed: 0 });
  expect(await request("main")).toBe(204);
  expect(await campaign.progress()).toMatchObject({ completed: 1 });
  expect((await campaign.figures()).services).toMatchObject([
    { name: "main", calls: 2 },
    { name: "spare", calls: 10 },
  ]);
  expect(await campaign.endCalls()).toMatchObject({ ended: 11 });
  expect(new Set(ended)).toEqual(new Set(["main ends main", "spare ends spare"]));
});

it("a lost answer is asked for again at its service, also after the objects have ended", async () => {
  const { campaign, posts, answer, crash, play } = await stageOf({ idempotent: true }, 1);
  answer.isLost = true;
  await campaign.add(people(2));
  await campaign.resume();
  await play(1);
  const sent = posts.map(({ service, key }) => [service, key]);
  crash();
  answer.isLost = false;
  await play(1, 30_000);
  expect(sent).not.toEqual([]);
  expect(posts.slice(sent.length).map(({ service, key }) => [service, key])).toEqual(
    expect.arrayContaining(sent),
  );
});
