import { DatabaseSync } from "node:sqlite";
import { describe, expect, it } from "vitest";
import type { Database } from "../../../src/campaigns/index.ts";
import { BadParametersException, ServiceException } from "../../../src/errors.ts";
import { noon, numberOf, people, stageOf } from "./stage.ts";

const window = { days: "sun-sat", from: "09:00", to: "20:00", timezone: "Europe/Berlin" };

/** A database that tells of each commit, once it is done. */
const slow = (committed: () => void): Database => {
  const database = new DatabaseSync(":memory:");
  return {
    exec: (statements) => database.exec(statements),
    close: () => database.close(),
    prepare: (statement) => {
      const prepared = database.prepare(statement);
      return {
        all: (...values) => {
          const rows = prepared.all(...values);
          if (statement === "commit") committed();
          return rows;
        },
      };
    },
  };
};

describe("who is claimed within the hours", () => {
  it.each([
    ["the hours", { window }],
    ["the campaign", { until: new Date(noon + 1) }],
  ])("isn't called when %s end during the commit", async (_, options) => {
    let committed = (): void => {};
    const database = slow(() => committed());
    const stage = await stageOf(options, database);
    await stage.campaign.add(people(1));
    committed = () => {
      stage.now = noon + 12 * 3_600_000;
    };
    await stage.campaign.step();
    await stage.campaign.idle();
    expect(stage.posts).toEqual([]);
    expect(stage.campaign.progress()).toMatchObject({ waiting: 1, calling: 0 });
  });

  it("is called by the zone that a later row names", async () => {
    const stage = await stageOf({ window });
    await stage.campaign.add([{ to_number: numberOf(0) }, { to_number: numberOf(1) }]);
    const again = [
      { to_number: numberOf(0), timezone: "Asia/Tokyo" }, // where it is 19:00 at noon
      { to_number: numberOf(1), timezone: "Pacific/Auckland" }, // where it is 22:00
    ];
    expect(await stage.campaign.add(again)).toMatchObject({ added: 0, duplicate: 2 });
    await stage.play();
    expect(stage.posts.map(({ to_number }) => to_number)).toEqual([numberOf(0)]);
  });
});

describe("perDay", () => {
  it("isn't spent by answers that called nobody", async () => {
    const stage = await stageOf({ perDay: 2 });
    await stage.campaign.add(people(3));
    stage.answer = () => {
      throw new ServiceException("HTTP 429", { placed: "no", code: 429, retryAfter: 1 });
    };
    await stage.play(10_000);
    stage.answer = () => ({ id: "cs_1" });
    await stage.play(60_000);
    expect(stage.campaign.progress()).toMatchObject({ calling: 2, waiting: 1 });
  });

  it("lasts until midnight also on a day with a change of the clocks", async () => {
    const all = { ...window, from: "00:00", to: "24:00" };
    const stage = await stageOf({ perDay: 2, window: all });
    stage.now = Date.parse("2026-03-28T23:30:00Z"); // 00:30 in Berlin; it puts its clock on at 2
    const today = await stage.reopen();
    await today.campaign.add(people(10));
    await today.play(Date.parse("2026-03-29T21:59:00Z") - today.now);
    expect(today.posts).toHaveLength(2);
    await today.play(120_000);
    expect(today.posts).toHaveLength(4);
  });

  it("isn't held up by a clock that was a year ahead, once it is opened again", async () => {
    const stage = await stageOf({ perDay: 2 });
    stage.now = noon + 366 * 86_400_000;
    await stage.campaign.add(people(10));
    await stage.play();
    stage.now = noon;
    const today = await stage.reopen();
    await today.play();
    expect(today.posts).toEqual([]);
    await today.play(86_400_000);
    expect(today.posts).toHaveLength(2);
  });
});

describe("a clock that gives no time", () => {
  it("stops the calls, and nothing else is wrong once it does again", async () => {
    let isBroken = false;
    const stage = await stageOf({
      clock: () => (isBroken ? Number.NaN : Date.now()),
      rate: 10_000,
    });
    await stage.campaign.add(people(2));
    isBroken = true;
    await expect(stage.campaign.step()).rejects.toThrow(BadParametersException);
    expect(stage.posts).toEqual([]);
    isBroken = false;
    await stage.campaign.run({ signal: AbortSignal.timeout(500) });
    expect(stage.posts).toHaveLength(2);
    expect(stage.campaign.rate).toBe(10_000);
  });
});
