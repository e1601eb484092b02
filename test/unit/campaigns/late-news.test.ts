import { DatabaseSync } from "node:sqlite";
import { describe, expect, it } from "vitest";
import { openLedger } from "../../../src/campaigns/index.ts";
import { ServiceException } from "../../../src/errors.ts";
import { numberOf, people, type Stage, stageOf } from "./stage.ts";

const minute = 60_000;
const hour = 60 * minute;
const again = { after: minute, attempts: 5 };

const called = async (options: Parameters<typeof stageOf>[0] = {}): Promise<Stage> => {
  const stage = await stageOf(options);
  await stage.campaign.add(people(1));
  await stage.play();
  return stage;
};

const resultOf = ({ campaign }: Stage) => [...campaign.results()][0];

describe("what becomes known before the retry was begun", () => {
  it.each([
    ["a machine, and then its flow", ["machine", "flow"]],
    ["its flow, and then a machine", ["flow", "machine"]],
  ])("stops it: %s", async (_, order) => {
    const stage = await called({ retryOn: { machine: again } });
    for (const news of order) {
      if (news === "flow") await stage.tell(0, "call.flow_error");
      else await stage.tellMore(0, "call.completed", { answered_by: "machine_start" });
    }
    await stage.play(hour);
    expect(stage.posts).toHaveLength(1);
    expect(resultOf(stage)?.disposition).toBe("flow_error");
  });

  it("a contact that has ended as busy was talked to after all", async () => {
    const stage = await called();
    await stage.tell(0, "call.failed", "busy");
    await stage.tell(0, "call.completed", "normal");
    expect(resultOf(stage)).toMatchObject({ disposition: "completed", reason: "normal" });
  });
});

describe("what becomes known after the retry was begun", () => {
  it.each([
    ["somebody was talked to", "completed", (stage: Stage) => stage.hear(0, { digits: "1" })],
    ["a message was left", "message_left", (stage: Stage) => stage.hear(0, { message: "left" })],
    ["its flow failed", "flow_error", (stage: Stage) => stage.tell(0, "call.flow_error")],
    ["it was canceled", "busy", (stage: Stage) => stage.tell(0, "call.failed", "canceled")],
  ])("%s: the retry goes on, no other one follows, and the contact is %s", async (_, end, news) => {
    const stage = await called({ retryOn: { busy: again } });
    await stage.tell(0, "call.failed", "busy");
    await stage.play(minute);
    await news(stage);
    expect(stage.campaign.progress()).toMatchObject({ calling: 1 });
    await stage.tell(1, "call.failed", "busy");
    await stage.play(hour);
    expect(stage.posts).toHaveLength(2);
    expect(resultOf(stage)?.disposition).toBe(end);
  });
});

it("which keys were pressed is no fact of an attempt", async () => {
  const database = new DatabaseSync(":memory:");
  const stage = await stageOf({}, database);
  await stage.campaign.add(people(1));
  await stage.play();
  await stage.hear(0, { digits: "739182" });
  const rows = database.prepare("select * from outdial_attempt").all();
  expect(rows).toMatchObject([{ person: 1 }]);
  expect(JSON.stringify(rows)).not.toContain("739182");
});

describe("a restored backup", () => {
  const options = { retryOn: { busy: again } };
  const copyOf = (database: DatabaseSync): DatabaseSync => {
    const copy = new DatabaseSync(":memory:");
    for (const { sql } of database.prepare("select sql from sqlite_master where sql <> ''").all()) {
      copy.exec(String(sql));
    }
    for (const { name } of database
      .prepare("select name from sqlite_master where type = 'table'")
      .all()) {
      copy.exec(`delete from ${name}`);
      for (const row of database.prepare(`select * from ${name}`).all()) {
        const places = Object.keys(row).map(() => "?");
        copy.prepare(`insert into ${name} values (${places.join()})`).run(...Object.values(row));
      }
    }
    return copy;
  };

  it("that lacks the last attempt of each contact pauses at the first notification of one", async () => {
    const database = new DatabaseSync(":memory:");
    const lost = await stageOf(options, database);
    await lost.campaign.add(people(50));
    await lost.play();
    for (let post = 0; post < 50; post++) await lost.tell(post, "call.failed", "busy");
    const backup = copyOf(database);
    await lost.play(minute);
    expect(lost.posts).toHaveLength(100);
    const restored = await stageOf(options, backup);
    restored.now = lost.now;
    expect(await restored.campaign.note(await lost.received(77, "call.completed"))).toBe(true);
    await restored.play(hour);
    expect(restored.posts).toEqual([]);
    expect(restored.campaign.progress()).toMatchObject({
      ...{ state: "paused", waiting: 49, completed: 1 },
      reason: expect.stringContaining("is it a restored backup?"),
    });
  });

  it("is not what a call shows that the service had refused, also after the process has ended", async () => {
    const stage = await stageOf();
    await stage.campaign.add(people(2));
    stage.answer = () => {
      throw new ServiceException("HTTP 429", { placed: "no", code: 429, retryAfter: 3_600 });
    };
    await stage.play(0);
    await stage.play(100);
    const next = await stage.reopen();
    expect(await next.campaign.note(await stage.received(0, "call.answered"))).toBe(true);
    expect(await next.campaign.note(await stage.received(1, "call.failed", "busy"))).toBe(true);
    expect(next.campaign.progress()).toMatchObject({ state: "running", calling: 1, busy: 1 });
    await next.play(2 * hour);
    expect(next.posts).toEqual([]);
  });

  it("a claim that was released counts as no call, and is claimed anew", async () => {
    const database = new DatabaseSync(":memory:");
    const stage = await stageOf({}, database);
    await stage.campaign.add(people(1));
    stage.answer = () => {
      throw new ServiceException("HTTP 429", { placed: "no", code: 429, retryAfter: 60 });
    };
    await stage.play(0);
    const { figures } = openLedger(database);
    expect(figures().quarters).toEqual([]);
    stage.answer = () => ({ id: "cs_1" });
    await stage.play(2 * minute);
    expect(stage.posts).toHaveLength(2);
    expect(figures().quarters).toMatchObject([{ calls: 1 }]);
    await stage.tell(1, "call.completed", "normal");
    expect(resultOf(stage)).toMatchObject({ disposition: "completed", attempts: 1 });
  });
});

describe("a call-back that was promised", () => {
  const promised = async (options: Parameters<typeof stageOf>[0] = {}): Promise<Stage> => {
    const stage = await called(options);
    const later = new Date(stage.now + hour);
    expect(await stage.campaign.callBack(numberOf(0), later)).toBe(true);
    return stage;
  };

  it("stays promised when the final notification is lost: once the call can no longer be live", async () => {
    const stage = await promised({ settleTimeout: 2 * hour });
    await stage.play(2 * hour - 2_000);
    expect(stage.posts).toHaveLength(1);
    await stage.play(2_000);
    expect(stage.posts).toHaveLength(2);
  });

  it("and comes at its time, where that is later", async () => {
    const stage = await promised({ settleTimeout: minute });
    await stage.play(hour - 2_000);
    expect(stage.posts).toHaveLength(1);
    expect(stage.campaign.progress()).toMatchObject({ waiting: 1, unknown: 0 });
    await stage.play(2_000);
    expect(stage.posts).toHaveLength(2);
    await stage.tell(0, "call.completed", "normal");
    await stage.tell(1, "call.failed", "no_answer");
    expect(resultOf(stage)?.disposition).toBe("no_answer");
  });

  it.each<[string, (stage: Stage) => Promise<unknown>]>([
    ["the campaign was canceled", (stage) => stage.campaign.cancel()],
    ["the list lacks the contact", (stage) => stage.campaign.sync([])],
    [
      "`until` has passed",
      async (stage) => {
        await stage.campaign.pause();
        stage.now += 3 * hour;
      },
    ],
  ])("is missed when it can no longer be made: %s", async (_, happen) => {
    const until = (stage: Stage) => new Date(stage.now + 2 * hour);
    const first = await stageOf();
    const options = { until: until(first) };
    for (const isEnded of [true, false]) {
      const stage = await promised(options);
      if (isEnded) await stage.tell(0, "call.completed", "normal");
      await happen(stage);
      await stage.campaign.step();
      if (!isEnded) await stage.tell(0, "call.completed", "normal");
      expect(stage.campaign.progress()).toMatchObject({ completed: 0, call_back_missed: 1 });
      expect(resultOf(stage)?.disposition).toBe("call_back_missed");
      await stage.hear(0, { digits: "1" });
      expect(stage.campaign.progress()).toMatchObject({ done: true, call_back_missed: 1 });
    }
  });

  it("who answered and is blocked meanwhile keeps that, and is not called", async () => {
    const stage = await promised();
    await stage.tell(0, "call.completed", "normal");
    await stage.campaign.block(numberOf(0));
    expect(resultOf(stage)).toMatchObject({ disposition: "completed", reason: "normal" });
    await stage.tell(0, "call.flow_error");
    await stage.play(2 * hour);
    expect(stage.posts).toHaveLength(1);
    expect(stage.campaign.progress()).toMatchObject({ done: true, flow_error: 1 });
  });

  it("and who did not answer is blocked, unless it becomes known that a person did", async () => {
    const stage = await promised();
    await stage.tell(0, "call.failed", "busy");
    await stage.campaign.block(numberOf(0));
    expect(resultOf(stage)?.disposition).toBe("blocked");
    await stage.tell(0, "call.failed", "canceled");
    expect(resultOf(stage)?.disposition).toBe("blocked");
    await stage.hear(0, { digits: "1" });
    expect(resultOf(stage)?.disposition).toBe("completed");
  });
});
