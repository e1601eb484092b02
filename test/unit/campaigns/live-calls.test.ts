import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, describe, expect, it, vi } from "vitest";
import { openLedger } from "../../../src/campaigns/index.ts";
import type { CallState } from "../../../src/campaigns/options.ts";
import { BadParametersException, ServiceException } from "../../../src/errors.ts";
import { numberOf, people, stageOf } from "./stage.ts";

const settleTimeout = 600_000;

/** A service whose calls are in the states that a test says, and what it was asked. */
const serviceOf = (states: Record<string, CallState | Error> = {}) => {
  const asked: string[] = [];
  const get = async (id: string): Promise<CallState> => {
    asked.push(id);
    const state = states[id] ?? { state: "answered" };
    if (state instanceof Error) throw state;
    return state;
  };
  return { asked, states, get };
};

const gone = new ServiceException("HTTP 404", { placed: undefined, code: 404 });
const away = new ServiceException("HTTP 503", { placed: undefined, code: 503 });

describe("an answer that never comes", () => {
  afterEach(() => vi.useRealTimers());

  it("is given up after 30 s, so that sixteen of them hold nobody up", async () => {
    let asked = 0;
    const get = (): Promise<CallState> => {
      asked++;
      return new Promise(() => {});
    };
    const stage = await stageOf({ get, settleTimeout, concurrency: 6_000 });
    await stage.campaign.add(people(20));
    await stage.play(80_000);
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const steps = async (): Promise<void> => {
      for (let step = 0; step < 100; step++, stage.now += 200) await stage.campaign.step();
    };
    await steps();
    expect(asked).toBe(16);
    await vi.advanceTimersByTimeAsync(30_000);
    await steps();
    expect(asked).toBe(20);
    await vi.advanceTimersByTimeAsync(30_000);
    await stage.campaign.close();
  });

  it("counts for the pace of the next process, too", async () => {
    const { get, asked } = serviceOf();
    const stage = await stageOf({ get, settleTimeout, concurrency: 60 });
    await stage.campaign.add(people(2));
    await stage.play(80_000);
    while (asked.length === 0) {
      stage.now += 100;
      await stage.campaign.step();
      await stage.campaign.idle();
    }
    const next = await stage.reopen();
    for (const [wait, count] of [[500, 1] as const, [600, 2] as const]) {
      next.now += wait;
      await next.campaign.step();
      await next.campaign.idle();
      expect(asked).toHaveLength(count);
    }
  });
});

describe("a call whose notifications never come", () => {
  it("is asked for 90 s after it was placed, and its end counts as a notified one", async () => {
    const { get, asked } = serviceOf({
      cs_0: { state: "completed", reason: "normal", duration: 12, answered_by: "human" },
      cs_1: { state: "failed", reason: "busy" },
    });
    const stage = await stageOf({ get, settleTimeout, attempts: 2, retryDelay: 60_000 });
    await stage.campaign.add(people(2));
    await stage.play(89_000);
    expect(asked).toEqual([]);
    await stage.play(3_000);
    expect(asked).toEqual(["cs_0", "cs_1"]);
    const [talked, busy] = [...stage.campaign.results()];
    expect(talked).toMatchObject({
      disposition: "completed",
      duration: 12_000,
      answered_by: "human",
    });
    expect(busy).toMatchObject({ disposition: undefined, reason: "busy" });
    await stage.play(60_000);
    expect(stage.posts[2]?.to_number).toBe(numberOf(1));
  });

  it("is asked for, and ended, by an id that comes after what an agent said of it", async () => {
    const { get, asked } = serviceOf();
    const ended: string[] = [];
    const end = async (id: string) => void ended.push(id);
    const stage = await stageOf({ get, end, settleTimeout });
    stage.answer = () => Promise.reject(new Error("the answer was lost"));
    await stage.campaign.add(people(1));
    await stage.play();
    const { context } = await stage.received(0, "call.answered");
    await stage.campaign.note({ context, outcome: "transfer" });
    await stage.tell(0, "call.answered");
    expect([...stage.campaign.results()]).toMatchObject([{ call_id: "cs_0" }]);
    await stage.play(92_000);
    expect(asked).toEqual(["cs_0"]);
    expect(await stage.campaign.endCalls()).toMatchObject({ ended: 1, unclear: [] });
    expect(ended).toEqual(["cs_0"]);
  });

  it("is asked for sooner where its end is waited for less than that", async () => {
    const { get, asked } = serviceOf({ cs_0: { state: "completed", reason: "normal" } });
    const stage = await stageOf({ get, settleTimeout: 20_000 });
    await stage.campaign.add(people(1));
    await stage.play(19_000);
    expect(asked).toEqual([]);
    await stage.play(2_000);
    expect(asked).toEqual(["cs_0"]);
  });

  it("is not asked for once its notification has come, which changes nothing after an answer either", async () => {
    const { get, asked } = serviceOf({ cs_1: { state: "completed" } });
    const stage = await stageOf({ get, settleTimeout });
    await stage.campaign.add(people(2));
    await stage.play();
    await stage.tell(0, "call.failed", "busy");
    await stage.play(settleTimeout);
    expect(asked).toEqual(["cs_1"]);
    await stage.tell(1, "call.completed", "normal");
    expect(stage.campaign.progress()).toMatchObject({ done: true, busy: 1, completed: 1 });
  });

  it("is asked for ever more rarely while it is live, and is not given up", async () => {
    const { get, asked } = serviceOf();
    const stage = await stageOf({ get, settleTimeout });
    await stage.campaign.add(people(1));
    const minutes: number[] = [];
    for (let minute = 0; minute < 40; minute++) {
      await stage.play(60_000);
      while (minutes.length < asked.length) minutes.push(minute);
    }
    expect(minutes).toEqual([1, 1, 2, 4, 8, 16, 26, 36]);
    expect(stage.campaign.progress()).toMatchObject({ calling: 1, unknown: 0 });
  });

  it("is asked for again when the service is away", async () => {
    const { get, states } = serviceOf({ cs_0: away });
    const stage = await stageOf({ get, settleTimeout });
    await stage.campaign.add(people(1));
    await stage.play(2 * settleTimeout);
    states.cs_0 = { state: "failed", reason: "no_answer" };
    await stage.play(settleTimeout);
    expect(stage.campaign.progress()).toMatchObject({ done: true, no_answer: 1 });
  });

  it.each([
    ["does not know it", gone],
    [
      "is never asked, as get lacks an option",
      new BadParametersException([{ param: "accountSid", message: "is missing" }]),
    ],
    ["has no such request", new ServiceException("HTTP 501", { placed: undefined, code: 501 })],
    ["can't read calls", new ServiceException("HTTP 405", { placed: undefined, code: 405 })],
    ["lets the key read none", new ServiceException("HTTP 403", { placed: undefined, code: 403 })],
  ])("is given up when the service %s, but not before its time", async (_, error) => {
    const { get } = serviceOf({ cs_0: error });
    const stage = await stageOf({ get, settleTimeout });
    await stage.campaign.add(people(1));
    await stage.play(settleTimeout - 1_000);
    expect(stage.campaign.progress()).toMatchObject({ calling: 1 });
    await stage.play(settleTimeout);
    expect(stage.campaign.progress()).toMatchObject({ done: true, unknown: 1 });
  });

  it("is given up after a day in which the service could read no call", async () => {
    const { get } = serviceOf({ cs_0: away });
    const stage = await stageOf({ get, settleTimeout });
    await stage.campaign.add(people(1));
    await stage.play(86_400_000);
    expect(stage.campaign.progress()).toMatchObject({ calling: 1 });
    await stage.play(3 * settleTimeout);
    expect(stage.campaign.progress()).toMatchObject({ done: true, unknown: 1 });
  });

  it("is given up when the service does not know it and the clock was set back by a day since", async () => {
    const { get } = serviceOf({ cs_0: gone });
    const stage = await stageOf({ get, settleTimeout });
    await stage.campaign.add(people(1));
    await stage.play(1_000);
    await stage.campaign.close();
    stage.now -= 86_400_000;
    const again = await stage.reopen();
    await again.play(2 * settleTimeout);
    expect(again.campaign.progress()).toMatchObject({ done: true, unknown: 1 });
  });

  it("of many, one in a second, or a sixtieth of the concurrency, is asked for", async () => {
    for (const [concurrency, most] of [
      [30, 1],
      [240, 4],
    ] as const) {
      const times: number[] = [];
      const stage = await stageOf({
        concurrency,
        settleTimeout,
        get: async () => {
          times.push(stage.now);
          return { state: "completed" };
        },
      });
      await stage.campaign.add(people(30));
      await stage.play(300_000);
      expect(times).toHaveLength(30);
      const seconds = times.map(
        (at) => times.filter((one) => one >= at && one < at + 1_000).length,
      );
      expect(Math.max(...seconds)).toBeLessThanOrEqual(most);
      expect(Math.max(...times) - Math.min(...times)).toBeLessThanOrEqual((30 / most) * 1_000);
    }
  });

  it("is asked for by the next process, also when nobody dialled for hours; without get it is given up", async () => {
    for (const [options, state] of [
      [{}, "completed"],
      [{ get: undefined }, "unknown"],
    ] as const) {
      const { get } = serviceOf({ cs_0: { state: "completed" } });
      const first = await stageOf({ get, settleTimeout });
      await first.campaign.add(people(1));
      await first.play();
      first.now += 5 * 3_600_000;
      const second = await first.reopen(options);
      await second.play(settleTimeout + 1_000);
      expect(second.campaign.progress()).toMatchObject({ done: true, [state]: 1 });
    }
  });

  it("is asked for at once by the next process of a file, however long the one before would have waited", async () => {
    const folder = mkdtempSync(join(tmpdir(), "live-"));
    const database = new DatabaseSync(join(folder, "people.outdial"));
    const { get, states, asked } = serviceOf();
    const first = await stageOf({ get, settleTimeout }, database);
    await first.campaign.add(people(1));
    await first.play(400_000);
    await first.campaign.close();
    const before = asked.length;
    states.cs_0 = { state: "completed", reason: "normal" };
    const second = await first.reopen();
    await second.play();
    expect(asked).toHaveLength(before + 1);
    expect(second.campaign.progress()).toMatchObject({ done: true, completed: 1 });
    await second.campaign.close();
    database.close();
    rmSync(folder, { recursive: true });
  });

  it("whose id is unknown waits for its horizon", async () => {
    const { get, asked } = serviceOf();
    const stage = await stageOf({ get, settleTimeout });
    stage.answer = () => {
      throw new ServiceException("HTTP 503", { placed: "maybe", code: 503 });
    };
    await stage.campaign.add(people(1));
    await stage.play(settleTimeout + 1_000);
    expect(asked).toEqual([]);
    expect(stage.campaign.progress()).toMatchObject({ done: true, unknown: 1 });
  });
});

describe("endCalls", () => {
  const eventsOf = ({ campaign }: Awaited<ReturnType<typeof stageOf>>) =>
    Array.from(campaign.audit(), ({ event, detail }) => [event, detail]);

  it("ends every live call once, begins no other, and enters each in the ledger", async () => {
    const ended: string[] = [];
    const end = async (id: string) => void ended.push(id);
    const stage = await stageOf({ end, concurrency: 50 });
    await stage.campaign.add(people(60));
    await stage.play();
    await stage.tell(0, "call.failed", "busy");
    expect(await stage.campaign.endCalls()).toEqual({ ended: 49, failed: [], unclear: [] });
    await stage.campaign.endCalls();
    await stage.play(60_000);
    expect(new Set(ended).size).toBe(49);
    expect(ended).toHaveLength(49);
    expect(stage.posts).toHaveLength(50);
    expect(eventsOf(stage).filter(([event]) => event === "ended")).toHaveLength(49);
    expect(stage.campaign.progress()).toMatchObject({ state: "paused", waiting: 10 });
  });

  it("enters the end of each call at once, once the service shows it, and before its notification", async () => {
    const { get, states } = serviceOf({ cs_1: { state: "ringing" }, cs_2: away });
    const end = async (id: string): Promise<void> => {
      if (id === "cs_0") states[id] = { state: "completed", reason: "normal", duration: 7 };
      if (id === "cs_1") {
        setTimeout(() => (states[id] = { state: "failed", reason: "canceled" }), 100);
      }
    };
    const stage = await stageOf({ end, get });
    await stage.campaign.add(people(3));
    await stage.play();
    expect(await stage.campaign.endCalls()).toMatchObject({ ended: 3 });
    expect([...stage.campaign.results()]).toMatchObject([
      { disposition: "completed", duration: 7_000 },
      { disposition: "canceled" },
      { disposition: undefined },
    ]);
    await stage.tell(2, "call.failed", "canceled");
    expect(stage.campaign.progress()).toMatchObject({ completed: 1, canceled: 2 });
  });

  it("50 calls are ended 32 at a time", async () => {
    let live = 0;
    let most = 0;
    const end = async () => {
      most = Math.max(most, ++live);
      await new Promise((resolve) => setTimeout(resolve, 5));
      live--;
    };
    const stage = await stageOf({ end });
    await stage.campaign.add(people(50));
    await stage.play();
    expect(await stage.campaign.endCalls()).toMatchObject({ ended: 50 });
    expect(most).toBe(32);
  });

  it("a call that is being placed is ended when its id comes", async () => {
    const ended: string[] = [];
    let placed = (_: { id: string }): void => {};
    const stage = await stageOf({ end: async (id) => void ended.push(id) });
    stage.answer = () => new Promise((resolve) => (placed = resolve));
    await stage.campaign.add(people(1));
    await stage.campaign.step();
    const result = stage.campaign.endCalls();
    placed({ id: "cs_late" });
    expect(await result).toEqual({ ended: 1, failed: [], unclear: [] });
    expect(ended).toEqual(["cs_late"]);
  });

  it("what may be live without an id is listed, and ended when a notification has the id", async () => {
    const ended: string[] = [];
    const stage = await stageOf({ end: async (id) => void ended.push(id) });
    stage.answer = () => {
      throw new ServiceException("HTTP 503", { placed: "maybe", code: 503 });
    };
    await stage.campaign.add([{ to_number: numberOf(0), id: "c0" }]);
    await stage.play();
    expect(await stage.campaign.endCalls()).toEqual({
      ended: 0,
      failed: [],
      unclear: [{ contact: 1, to_number: numberOf(0), id: "c0" }],
    });
    await stage.tell(0, "call.answered");
    await stage.campaign.idle();
    expect(ended).toEqual(["cs_0"]);
  });

  it("a call that can't be ended is tried four times, listed, and tried again the next time", async () => {
    let tries = 0;
    const end = async () => {
      if (++tries <= 4) throw new ServiceException("HTTP 500", { placed: undefined, code: 500 });
    };
    const stage = await stageOf({ end });
    await stage.campaign.add(people(1));
    await stage.play();
    expect(await stage.campaign.endCalls()).toMatchObject({
      ended: 0,
      failed: [{ call_id: "cs_0" }],
    });
    expect(tries).toBe(4);
    expect(eventsOf(stage)).toContainEqual(["not_ended", "ServiceException"]);
    expect(await stage.campaign.endCalls()).toMatchObject({ ended: 1, failed: [] });
  });

  it("is refused without end, by its name", async () => {
    const stage = await stageOf();
    await expect(stage.campaign.endCalls()).rejects.toThrow("end is missing");
  });

  it("resume takes it back: calls that begin then are not ended", async () => {
    const ended: string[] = [];
    const stage = await stageOf({ end: async (id) => void ended.push(id) });
    await stage.campaign.endCalls();
    await stage.campaign.resume();
    await stage.campaign.add(people(1));
    await stage.play();
    await stage.tell(0, "call.answered");
    expect([stage.posts.length, ended.length]).toEqual([1, 0]);
  });

  it("another process asks for it by the ledger, also of one that is opened later", async () => {
    const ended: string[] = [];
    const database = new DatabaseSync(":memory:");
    const end = async (id: string) => void ended.push(id);
    const stage = await stageOf({ end }, database);
    await stage.campaign.add(people(2));
    await stage.play();
    const { failed } = await openLedger(database).endCalls();
    expect(failed.map(({ call_id }) => call_id)).toEqual(["cs_0", "cs_1"]);
    const again = await stage.reopen();
    await again.play();
    expect(ended).toEqual(["cs_0", "cs_1"]);
    expect(again.campaign.progress()).toMatchObject({ state: "paused" });
  });

  it("a ledger ends by itself what the process that dials doesn't, which is not asked again", async () => {
    const folder = mkdtempSync(join(tmpdir(), "live-"));
    const file = () => new DatabaseSync(join(folder, "people.outdial"));
    const database = file();
    const stage = await stageOf({}, database); // It has no end.
    await stage.campaign.add(people(2));
    await stage.play();
    const ended: string[] = [];
    const other = file();
    const { get } = serviceOf({
      cs_0: { state: "completed", reason: "normal" },
      cs_1: { state: "failed", reason: "busy" },
    });
    const ledger = openLedger(other);
    const result = ledger.endCalls({ end: async (id) => void ended.push(id), get });
    expect(await result).toEqual({ ended: 2, failed: [], unclear: [] });
    expect(ended).toEqual(["cs_0", "cs_1"]);
    // Whether another attempt follows is for the process that dials to say.
    expect([...ledger.results()]).toMatchObject([
      { disposition: "completed" },
      { disposition: undefined, reason: "busy" },
    ]);
    await stage.campaign.resume();
    stage.now = Date.now();
    await stage.play();
    expect(stage.campaign.progress()).toMatchObject({ done: true, completed: 1, busy: 1 });
    expect(stage.posts).toHaveLength(2);
    await stage.campaign.close();
    database.close();
    other.close();
    rmSync(folder, { recursive: true });
  });

  it("a stop from outside is taken back by resume alone, and not by that of another pause", async () => {
    const database = new DatabaseSync(":memory:");
    const { campaign } = await stageOf({}, database);
    await campaign.pause("the list can't be read");
    await openLedger(database).stop();
    await campaign.pause("interrupted");
    const stopped = { state: "paused", reason: "stopped from outside" };
    expect(campaign.progress()).toMatchObject(stopped);
    await campaign.resume("the list can't be read");
    expect(campaign.progress()).toMatchObject(stopped);
    await campaign.resume("stopped from outside");
    expect(campaign.progress()).toMatchObject({ state: "running" });
    await campaign.pause("one");
    await campaign.resume();
    expect(campaign.progress()).toMatchObject({ state: "running" });
  });
});
