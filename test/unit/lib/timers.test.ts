import { expect, test, vi } from "vitest";
import { processClock } from "../../../src/lib/clock.ts";
import { createTimers } from "../../../src/lib/timers.ts";

/** Names of what has run by a time, in ms. */
const ranBy = (
  milliseconds: number,
  plan: (timers: ReturnType<typeof createTimers>, run: (name: string) => () => void) => void,
): readonly string[] => {
  vi.useFakeTimers();
  const ran: string[] = [];
  plan(createTimers(processClock), (name) => () => void ran.push(name));
  vi.advanceTimersByTime(milliseconds);
  vi.useRealTimers();
  return ran;
};

test("a timer takes the place of the one that had its name, also where it is due at once", () => {
  expect(
    ranBy(1_000, ({ now, set, wait }, run) => {
      set("a", 10, run("first"));
      set("a", 20, run("second"));
      set("b", 10, run("third"));
      wait("b", () => 0, run("fourth"));
      set("c", 10, run("fifth"));
      wait("c", () => now() + 5_000, run("sixth"));
    }),
  ).toEqual(["fourth", "second"]);
});

test.each([
  [299, []],
  [300, ["ended"]],
])("a wait ends at a time that changes meanwhile: %i ms", (milliseconds, ran) => {
  expect(
    ranBy(milliseconds, ({ now, set, wait }, run) => {
      let end = now() + 100;
      wait("a", () => end, run("ended"));
      set("b", 50, () => {
        end += 200;
      });
    }),
  ).toEqual(ran);
});

test("once stopped, nothing runs and nothing is set any more", () => {
  expect(
    ranBy(1_000, ({ set, stop }, run) => {
      set("a", 10, run("set"));
      stop();
      set("b", 10, run("late"));
    }),
  ).toEqual([]);
});
