import { readFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { afterEach, describe, expect, it, vi } from "vitest";
import type { Call } from "../../../src/calls/call.ts";
import { open } from "../../../src/campaigns/engine.ts";
import { openLedger, type Result } from "../../../src/campaigns/index.ts";
import type { CallState } from "../../../src/campaigns/options.ts";
import { sqlOf } from "../../../src/campaigns/sqlite.ts";
import { prepareTables } from "../../../src/campaigns/tables.ts";
import {
  CampaignShard,
  campaignOf,
  type ShardAuditEntry,
  type ShardOptions,
  shardOf,
  statusHandler,
} from "../../../src/campaigns/workers/index.ts";
import { hangup } from "../../../src/flows/actions.ts";
import { flowHandler } from "../../../src/flows/handler.ts";
import { objectOf, objectsOf } from "./objects.ts";
import { numberOf, people, secret } from "./stage.ts";

afterEach(() => {
  vi.restoreAllMocks();
});

const minute = 60_000;

const resultsOf = async ({ campaign }: Pick<Awaited<ReturnType<typeof objectsOf>>, "campaign">) => {
  const all: Result[] = [];
  for await (const result of campaign.results()) all.push(result);
  return all;
};

it("a shard has six POSTs under way at most: the platform sends no more at once", async () => {
  let most = 0;
  let posts = 0;
  const answers: ((call: Call) => void)[] = [];
  const create: ShardOptions["create"] = (_params, _options) => {
    posts++;
    const call = new Promise<Call>((answer) => answers.push(answer));
    most = Math.max(most, answers.length);
    // The answers come once no further POST does.
    setTimeout(() => answers.shift()?.({ id: "cs_1" }), 20);
    return call;
  };
  const { campaign, play } = await objectsOf({ create });
  await campaign.add(people(40));
  await campaign.resume();
  await play();
  expect(await campaign.progress()).toMatchObject({ calling: 40 });
  expect({ posts, most }).toEqual({ posts: 40, most: 6 });
});

it("a shard reads its live calls for a sample of the progress, and not at each step", async () => {
  const { campaign, objects, play } = await objectsOf();
  await campaign.add(people(40));
  await campaign.resume();
  const prepared = [...objects.values()].map(({ database }) => vi.spyOn(database, "prepare"));
  await play();
  const statements = prepared.flatMap(({ mock }) => mock.calls.map(([statement]) => statement));
  const count = (part: string): number => statements.filter((each) => each.includes(part)).length;
  expect(count("insert into outdial_sample")).toBeGreaterThan(0);
  expect(count(" as since")).toBe(count("insert into outdial_sample"));
});

it("a shard answers no request that the Worker has forwarded, whatever it asks for", async () => {
  const { campaign, namespace } = await objectsOf();
  await campaign.add(people(1));
  const stub = namespace.get(namespace.idFromName(`${campaign.id}/0`));
  const post = (url: string, body: unknown): Promise<Response> =>
    stub.fetch(new Request(url, { method: "POST", body: JSON.stringify(body) }));
  for (const [what, body] of Object.entries({ resume: null, results: {}, audit: {}, add: [] })) {
    const answer = await post(`https://app.test/${what}`, body);
    expect([what, answer.status, await answer.text()]).toEqual([what, 404, ""]);
  }
  expect(await campaign.progress()).toMatchObject({ state: "paused", contacts: 1 });
});

it("a shard's create that drops notAfter is a warning when the campaign begins", async () => {
  const warn = vi.spyOn(console, "warn").mockReturnValue();
  await objectsOf({ create: async () => ({ id: "cs_1" }) });
  expect(warn).toHaveBeenCalledWith(expect.stringContaining("after the calling hours"));
  warn.mockClear();
  await objectsOf({ create: async (_params, _options) => ({ id: "cs_1" }) });
  expect(warn).not.toHaveBeenCalled();
});

describe("answers", () => {
  it("are kept by the shard of their call, with who gave them, and are columns in the order in which they came up", async () => {
    const stage = await objectsOf({}, { shards: 4 });
    const { campaign, posts, play, tell, hear } = stage;
    await campaign.add(people(8));
    await campaign.resume();
    await play();
    expect(posts).toHaveLength(8);
    const shardOfPost = (post: number): number => shardOf(posts[post]?.to_number ?? "", 4);
    // The last shard is the first that hears an answer.
    const byShard = posts
      .map((_, post) => post)
      .sort((one, other) => shardOfPost(other) - shardOfPost(one));
    const [last = 0, between = 0] = byShard;
    const first = byShard.at(-1) ?? 0;
    for (const [post, answers] of [
      [last, { visit: "1", why: "2" }],
      [first, { visit: "2", price: "3" }],
      [between, { visit: "1", again: "1" }],
    ] as const) {
      expect(await hear(post, { answers, answered_by: "human" })).toBe(true);
      await tell(post, "call.completed", { duration: 20 });
      await play(10);
    }
    expect(await campaign.answerNames()).toEqual(["visit", "why", "price", "again"]);
    const result = (await resultsOf(stage)).find(
      ({ to_number }) => to_number === posts[first]?.to_number,
    );
    expect(result).toMatchObject({
      ...{ disposition: "completed", answered_by: "human", duration: 20_000 },
      answers: { visit: "2", price: "3" },
    });
  });

  it("of another campaign are none of it", async () => {
    const { hear, campaign, play } = await objectsOf({}, { shards: 4 });
    const other = await objectsOf();
    const ofLast = people(40).find(({ to_number }) => shardOf(to_number, 4) === 3);
    await campaign.add([{ to_number: ofLast?.to_number ?? "" }]);
    await campaign.resume();
    await play();
    expect(await hear(0, { answers: { visit: "1" } })).toBe(true);
    const context = { campaign: `${campaign.id}/3`, contact: 1, attempt: 1 };
    const given = { call: { call_id: "cs_0" }, context, answers: { visit: "2" } };
    expect(await other.campaign.note(given)).toBe(false);
    expect(await campaign.note({ ...given, context: {} })).toBe(false);
    await expect(
      campaign.note({ ...given, answers: { visit: "x".repeat(1_001) } }),
    ).rejects.toThrow("answers must be texts of at most 1000 characters");
  });
});

it("the id of a campaign is in the context of its signed URLs, with the shard", async () => {
  const { campaign, namespace } = await objectsOf({}, { shards: 3 });
  expect(campaignOf(namespace, `${campaign.id}/2`)).toMatchObject({ id: campaign.id, shards: 3 });
  expect(() => campaignOf(namespace, `${campaign.id}/x`)).toThrow("must be the id of a campaign");
});

describe("a call-back", () => {
  it("calls who was talked to at the time, by the alarm of the contact's shard", async () => {
    const { campaign, posts, play, tell } = await objectsOf({}, { shards: 4 });
    await campaign.add(people(8));
    await campaign.resume();
    await play();
    const called = posts[3]?.to_number ?? "";
    await tell(3, "call.completed");
    await play(minute);
    const at = new Date(1_000 * Math.ceil((Date.now() + 10 * minute) / 1_000) + 900);
    expect(await campaign.callBack(called, at)).toBe(true);
    await play(at.getTime() - Date.now() - 300);
    expect(posts).toHaveLength(8);
    await play(600);
    expect(posts[8]?.to_number).toBe(called);
    expect(await campaign.callBack(numberOf(99), at)).toBe(false);
    await expect(campaign.callBack("12", at)).rejects.toThrow("to_number must be");
    await expect(campaign.callBack(called, new Date("soon"))).rejects.toThrow(
      "at must be a valid Date",
    );
  });

  it("is also an appointment of the list, whose date a shard reads as its text", async () => {
    const { campaign, posts, play } = await objectsOf({}, { shards: 2 });
    const call_at = new Date(Date.now() + minute);
    expect(await campaign.add(people(2).map((each) => ({ ...each, call_at })))).toMatchObject({
      added: 2,
    });
    await campaign.resume();
    await play(minute - 500);
    expect(posts).toHaveLength(0);
    await play(1_000);
    expect(posts).toHaveLength(2);
  });
});

describe("endCalls", () => {
  /** A service that ends calls, or answers nothing while it is down. */
  const ending = () => {
    const ended: string[] = [];
    const isDown = { now: false };
    const end = (id: string): Promise<unknown> =>
      isDown.now ? new Promise(() => {}) : Promise.resolve(ended.push(id));
    return { isDown, ended, options: { end } };
  };

  it("ends the live calls of every shard, and begins no further one", async () => {
    const { ended, options } = ending();
    const { campaign, posts, play } = await objectsOf(options, { shards: 4, concurrency: 40 });
    await campaign.add(people(60));
    await campaign.resume();
    await play();
    expect(posts.length).toBeGreaterThan(30);
    const { length } = posts;
    expect(await campaign.endCalls()).toEqual({ ended: length, failed: [], unclear: [] });
    expect(ended.toSorted()).toEqual(posts.map((_, index) => `cs_${index}`).toSorted());
    await play(minute);
    expect(posts).toHaveLength(length);
    expect(await campaign.progress()).toMatchObject({ state: "paused", calling: length });
  });

  it("names who has no id, and ends that call once its id has come, also after a crash", async () => {
    const { isDown, ended, options } = ending();
    const stage = await objectsOf({
      ...options,
      create: async (params, _options) => {
        stage.posts.push(params);
        throw new Error("cut");
      },
    });
    const { campaign, play, tell, crash } = stage;
    await campaign.add(people(2));
    await campaign.resume();
    await play();
    expect(await campaign.endCalls()).toMatchObject({
      ended: 0,
      unclear: [
        { contact: 1, to_number: numberOf(0) },
        { contact: 2, to_number: numberOf(1) },
      ],
    });
    await play(minute);
    crash();
    await tell(0, "call.ringing");
    await play();
    expect(ended).toEqual(["cs_0"]);
    isDown.now = true;
    await tell(1, "call.ringing");
    crash();
    isDown.now = false;
    await play();
    // A call that was ended is ended again, until its notification has come.
    expect([...new Set(ended)]).toEqual(["cs_0", "cs_1"]);
  });

  it("goes on after a crash in the middle of it, by the alarm alone", async () => {
    const { isDown, ended, options } = ending();
    const { campaign, play, crash, objects } = await objectsOf(options);
    await campaign.add(people(3));
    await campaign.resume();
    await play();
    isDown.now = true;
    void campaign.endCalls();
    const [object] = objects.values();
    const soon = Date.now() + minute;
    await expect.poll(() => Number(object?.alarm)).toBeLessThan(soon);
    crash();
    isDown.now = false;
    await play();
    expect(ended).toEqual(["cs_0", "cs_1", "cs_2"]);
  });

  it("is refused by name without the option end", async () => {
    const { campaign } = await objectsOf();
    await expect(campaign.endCalls()).rejects.toThrow("end is missing");
  });
});

describe("the do-not-call list", () => {
  it("who is taken off it and was never called is called, in whichever shard", async () => {
    const { campaign, posts, play } = await objectsOf({}, { shards: 3 });
    await campaign.add(people(6));
    expect(await campaign.block([numberOf(0), numberOf(1), numberOf(2)])).toBe(3);
    await campaign.resume();
    await play();
    expect(posts).toHaveLength(3);
    const numbers = [numberOf(0), numberOf(1), numberOf(9)];
    expect(await campaign.unblock(numbers, "asked for a call")).toBe(2);
    await play();
    expect(
      posts
        .map(({ to_number }) => to_number)
        .slice(3)
        .sort(),
    ).toEqual(numbers.slice(0, 2));
    expect(await campaign.progress()).toMatchObject({ blocked: 1, waiting: 0 });
  });

  it("keeps who was erased, and a wrong number or reason unblocks nobody", async () => {
    const { campaign } = await objectsOf({}, { shards: 3 });
    await campaign.block([numberOf(0), numberOf(1)]);
    await campaign.erase(numberOf(0));
    const reason = "asked for a call";
    await expect(campaign.unblock(numberOf(0), reason)).rejects.toMatchObject({ reason: "erased" });
    await expect(campaign.unblock([numberOf(1), "12"], reason)).rejects.toThrow("to_number must");
    await expect(campaign.unblock(numberOf(1), "")).rejects.toThrow("reason must be a line");
    expect(await campaign.unblock(numberOf(1), reason)).toBe(1);
  });
});

describe("the audit log", () => {
  it("is that of a ledger in a file, shard by shard, also of more than a page", async () => {
    const { campaign, objects } = await objectsOf({}, { shards: 2 });
    await campaign.add(people(6));
    await campaign.block(numberOf(0));
    await campaign.unblock(numberOf(0), "asked for a call");
    const [{ database } = expect.fail("no shard")] = objects.values();
    database.exec(`insert into outdial_audit (at, contact, attempt, event)
      with recursive n (i) as (select 1 union all select i + 1 from n where i < 1001)
      select i, i, 1, 'claimed' from n`);
    const entries: ShardAuditEntry[] = [];
    for await (const entry of campaign.audit()) entries.push(entry);
    expect(entries.filter(({ event }) => event === "claimed")).toHaveLength(1_001);
    const logs = [...objects.values()].map((object) => [...openLedger(object.database).audit()]);
    expect(entries).toEqual(
      logs.flatMap((log, shard) => log.map((entry) => ({ shard, ...entry }))),
    );
    const shard = shardOf(numberOf(0), 2);
    const unblocked = { shard, event: "unblocked", detail: "asked for a call" };
    expect(entries).toContainEqual(expect.objectContaining(unblocked));
  });
});

describe("check", () => {
  it("asks both handlers of the Worker whether they have the shards' secret", async () => {
    const { campaign, namespace, posts } = await objectsOf({}, { shards: 2 });
    const flow = flowHandler({
      ...{ secret: "another secret of an application", onError: () => {} },
      onAnswer: () => hangup(),
    });
    const status = statusHandler(namespace, { secret });
    const checked = await campaign.check({
      fetch: (url, init) => (url.includes("/flow") ? flow : status)(new Request(url, init)),
    });
    expect(checked).toMatchObject([
      { param: "flow_url", result: "refused" },
      { param: "status_callback_url", result: "accepted" },
    ]);
    expect(posts).toEqual([]);
    await expect(campaign.check(Object({}))).rejects.toThrow("fetch is missing");
  });
});

describe("a call whose final notification is lost", () => {
  it("is asked for by the shard's get, and its end counts as a notified one", async () => {
    const get = async (id: string): Promise<CallState> =>
      id === "cs_0" ? { state: "completed", duration: 7 } : { state: "failed", reason: "busy" };
    const { campaign, play } = await objectsOf({ get }, { shards: 2, attempts: 1 });
    await campaign.add(people(4));
    await campaign.resume();
    await play(89_000);
    expect(await campaign.progress()).toMatchObject({ calling: 4 });
    await play(minute);
    expect(await campaign.progress()).toMatchObject({ done: true, completed: 1, busy: 3 });
  });

  it("whose id only a notification has told is asked for in its time, though nothing else wakes the shard", async () => {
    const get = async (): Promise<CallState> => ({ state: "completed" });
    const stage = await objectsOf({
      get,
      create: async (params, _options) => {
        stage.posts.push(params);
        throw new Error("cut");
      },
    });
    const { campaign, play, tell } = stage;
    await campaign.add(people(1));
    await campaign.resume();
    await play();
    expect(await campaign.progress()).toMatchObject({ unclear: 1 });
    await tell(0, "call.ringing");
    await play(2 * minute);
    expect(await campaign.progress()).toMatchObject({ done: true, completed: 1 });
  });

  it("all shards together ask no faster than one campaign would", async () => {
    const times: number[] = [];
    const get = async (): Promise<CallState> => {
      times.push(Date.now());
      return { state: "completed" };
    };
    const { campaign, play } = await objectsOf({ get }, { shards: 4, concurrency: 60 });
    const ofOne = people(40).filter(({ to_number }) => shardOf(to_number, 4) === 2);
    await campaign.add(ofOne.slice(0, 3));
    await campaign.resume();
    await play(2 * minute);
    expect(times).toHaveLength(3);
    expect(Math.max(...times) - Math.min(...times)).toBeGreaterThan(7_900);
  });

  it("waits where all connections are in use, and the shard does not run in circles meanwhile", async () => {
    let now = 1_780_480_800_000;
    const posts: string[] = [];
    const sql = sqlOf(new DatabaseSync(":memory:"));
    const { campaign } = await open(
      sql,
      {
        ...{ from_number: "+12025550199", flow_url: "https://app.test/flow", secret },
        ...{ status_callback_url: "https://app.test/status", window: "always" },
        create: (_params, _options) =>
          posts.push("") === 1 ? Promise.resolve({ id: "cs_0" }) : new Promise(() => {}),
        get: async () => ({ state: "completed" }),
        clock: () => now,
      },
      prepareTables,
      { wholeRate: () => 1, mostRequests: 1 },
    );
    const [first, second] = people(2);
    await campaign.add([{ ...first, to_number: numberOf(0) }]);
    await campaign.step();
    await campaign.idle();
    now += 80_000;
    await campaign.add([{ ...second, to_number: numberOf(1) }]);
    await campaign.step();
    expect(posts).toHaveLength(2);
    now += 20_000;
    expect((await campaign.step()) ?? Number.POSITIVE_INFINITY).toBeGreaterThan(now);
  });
});

it("who turns out to be a machine after the end waits for another attempt, and the shard wakes for it", async () => {
  const retryOn = { machine: { after: minute } };
  const { campaign, posts, play, tell } = await objectsOf({}, { retryOn });
  await campaign.add(people(1));
  await campaign.resume();
  await play();
  await tell(0, "call.completed");
  await play(minute);
  await tell(0, "call.machine_detected", { answered_by: "machine_start" });
  await play(2 * minute);
  expect(posts).toHaveLength(2);
});

it("each contact has one of several senders, the same in however many shards", async () => {
  const from_number = ["+12025550197", "+12025550198", "+12025550199"];
  const senders: string[][] = [];
  for (const shards of [1, 4]) {
    const { campaign, posts, play } = await objectsOf({}, { shards, from_number });
    await campaign.add(people(24));
    await campaign.resume();
    await play();
    senders.push(posts.map(({ from_number: from, to_number }) => `${to_number} ${from}`).sort());
  }
  expect(senders[0]).toHaveLength(24);
  expect(senders[1]).toEqual(senders[0]);
  for (const each of from_number) expect(senders[0]?.join()).toContain(` ${each}`);
});

it("a shard of version 1 is brought up to date when it is opened, and dials on: nobody is called twice", async () => {
  const object = objectOf();
  object.database.exec(readFileSync(new URL("ledger-1.sql", import.meta.url), "utf8"));
  const share = {
    from_number: "+12025550199",
    flow_url: "https://app.test/flow",
    window: "always",
    attempts: 2,
    status_callback_url: "https://app.test/status/1-0123456789abcdef01234567/0",
    ...{ rate: 100, wholeRate: 100, concurrency: 100 },
  };
  const write = object.database.prepare("insert into outdial_fact values ('share', ?)");
  write.run(JSON.stringify(share));
  const posts: string[] = [];
  const shard = new CampaignShard(object, {
    secret,
    create: async ({ to_number }, _options) => ({ id: `cs_${posts.push(to_number)}` }),
    get: async (id) => (id === "cs_2" ? { state: "completed" } : { state: "answered" }),
  });
  await object.ready();
  const campaign = campaignOf(
    { idFromName: String, get: () => shard },
    "1-0123456789abcdef01234567",
  );
  await campaign.resume();
  await shard.alarm();
  // The time of those without an id is over long since; a live call is asked for, and one of them has ended.
  expect(posts).toEqual([numberOf(1)]);
  expect(await campaign.progress()).toMatchObject({ completed: 2, calling: 2, unknown: 2 });
  expect(await campaign.answerNames()).toEqual([]);
});
