import { afterEach, describe, expect, it, vi } from "vitest";
import { Pace, SendingPace } from "../../../src/campaigns/pace.ts";
import { randomOf } from "../../random.ts";
import { noon, people, stageOf } from "./stage.ts";

/** When calls begin, with timers that are late by up to so many milliseconds. */
const calls = (rate: number, seconds: number, late: number): readonly number[] => {
  const pace = new Pace(rate, noon, 0);
  const began: number[] = [];
  const random = randomOf(1);
  for (let now = noon; now < noon + seconds * 1_000; ) {
    for (let free = pace.free(now); free > 0; free--) {
      pace.take(now);
      began.push(now);
    }
    now = Math.max(now + 1, Math.ceil(pace.nextAt(now)) + Math.floor(random() * (late + 1)));
  }
  return began;
};

const mostInASecond = (began: readonly number[]): number =>
  Math.max(
    ...began.map((at, index) => began.slice(index).filter((one) => one < at + 1_000).length),
  );

describe("the pace", () => {
  it.each([
    [0.5, 0],
    [1, 3],
    [2.5, 3],
    [5, 3],
    [50, 3],
    [200, 3],
  ])(
    "of %d calls a second is kept within 2 %% over a minute, and never exceeded in a second, by timers up to %d ms late",
    (rate, late) => {
      const began = calls(rate, 60, late);
      expect(began.length).toBeGreaterThanOrEqual(60 * rate * 0.98);
      expect(began.length).toBeLessThanOrEqual(60 * rate * 1.02);
      expect(mostInASecond(began)).toBeLessThanOrEqual(Math.max(1, Math.ceil(rate)));
    },
  );

  it("spreads the calls over the second", () => {
    const began = calls(10, 2, 0);
    const gaps = began.slice(1).map((at, index) => at - (began[index] ?? 0));
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(99);
  });

  it("is not exceeded by a process that follows on another", () => {
    const pace = new Pace(5, noon, noon - 100);
    expect(pace.nextAt(noon)).toBe(noon + 900);
  });

  it("is halved when the service asks for less, and recovers within 10 s", () => {
    const pace = new Pace(8, noon, 0);
    pace.slow(noon);
    expect(pace.rateAt(noon)).toBe(4);
    expect(pace.rateAt(noon + 5_000)).toBe(6);
    expect(pace.rateAt(noon + 10_000)).toBe(8);
  });

  it("is halved once a second at most, and never stands still", () => {
    const pace = new Pace(8, noon, 0);
    for (let at = noon; at < noon + 1_000; at += 10) pace.slow(at);
    expect(pace.rateAt(noon)).toBe(4);
    for (let at = noon; at < noon + 60_000; at += 1_000) pace.slow(at);
    expect(pace.rateAt(noon + 60_000)).toBeGreaterThan(0.2);
    expect(pace.rateAt(noon + 70_000)).toBe(8);
  });

  it("goes on at once when the clock is set back", () => {
    const pace = new Pace(2, noon, 0);
    pace.take(noon);
    pace.take(noon);
    expect(pace.nextAt(noon - 3_600_000)).toBeLessThanOrEqual(noon - 3_600_000 + 1_000);
  });
});

describe("what is sent", () => {
  afterEach(() => vi.useRealTimers());

  /** Sends 200 POSTs that begin 50 ms apart, and whose keys take so many milliseconds, by the number of the POST. */
  const sent = async (delayOf: (post: number) => number): Promise<readonly number[]> => {
    vi.useFakeTimers({ now: noon });
    const pace = new SendingPace(20, Date.now, 0);
    const times: number[] = [];
    for (let post = 0; post < 200; post++) {
      const send = async (): Promise<void> => {
        await pace.untilFree();
        times.push(Date.now());
      };
      setTimeout(send, post * 50 + delayOf(post));
    }
    await vi.advanceTimersByTimeAsync(20_000);
    expect(times).toHaveLength(200);
    return times;
  };

  it.each([
    ["the first of which come together", (post: number) => Math.max(0, 1_000 - post * 50)],
    ["every second of which takes a second", (post: number) => (post % 2) * 1_000],
    ["that take up to three seconds", (post: number) => (post * 7_919) % 3_000],
  ])("is no more than the rate in any second, also with keys %s", async (_, delayOf) => {
    expect(mostInASecond(await sent(delayOf))).toBe(20);
  });

  it("is what begins, where the key takes no time: nothing waits", async () => {
    const times = await sent(() => 0);
    expect(times).toEqual(times.map((_, post) => noon + post * 50));
  });

  it("is no more than the rate after another process", async () => {
    vi.useFakeTimers({ now: noon });
    const pace = new SendingPace(2, Date.now, noon - 400);
    const times: number[] = [];
    for (let post = 0; post < 4; post++) pace.untilFree().then(() => times.push(Date.now() - noon));
    await vi.advanceTimersByTimeAsync(5_000);
    expect(times).toEqual([600, 600, 1_600, 1_600]);
  });

  it("waits between the key and the POST: create gets what it waits by, and no call begins meanwhile", async () => {
    const stage = await stageOf({
      rate: 5,
      create: (_, { beforeSend }) => {
        turns.push(beforeSend);
        return new Promise(() => {});
      },
    });
    const turns: unknown[] = [];
    await stage.campaign.add(people(100));
    for (; turns.length < 10; stage.now += 100) await stage.campaign.step();
    const ready = turns.map((turn) => (typeof turn === "function" ? turn() : undefined));
    await Promise.all(ready.slice(0, 5));
    stage.now += 900;
    await stage.campaign.step();
    expect(turns).toHaveLength(10);
    expect(stage.campaign.nextCall).toBe(stage.now + 100);
    stage.now += 100;
    await Promise.all(ready);
    await stage.campaign.step();
    expect(turns.length).toBeGreaterThan(10);
  });

  it("goes on after a clock that failed, and one that was set back", async () => {
    vi.useFakeTimers({ now: noon });
    let now: () => number = () => noon;
    const pace = new SendingPace(1, () => now(), 0);
    await pace.untilFree();
    now = () => {
      throw new Error("no clock");
    };
    await expect(pace.untilFree()).rejects.toThrow("no clock");
    now = () => Date.now() - 3_600_000;
    const turn = pace.untilFree();
    await vi.advanceTimersByTimeAsync(1_000);
    await turn;
  });
});
