import { describe, expect, it } from "vitest";
import { Pace } from "../../../src/campaigns/pace.ts";
import { randomOf } from "../../random.ts";
import { noon } from "./stage.ts";

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
