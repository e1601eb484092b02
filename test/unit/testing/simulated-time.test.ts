import { expect, test } from "vitest";
import { sharedClock } from "../../../src/emulator/clock.ts";
import { SimulatedTime, virtualClock } from "../../../src/testing/simulated-time.ts";

test("an activity that begins before the end of the one before it was noticed doesn't stop the time", async () => {
  const time = new SimulatedTime();
  const timeline = sharedClock(time)();
  const first = timeline.run(async () => {});
  const second = timeline.run(() => timeline.wait(100));
  await time.runUntil(Promise.all([first, second]));
  expect(time.now).toBe(100);
});

test("time stands still while any of several activities works, and each wait takes its own time", async () => {
  const time = new SimulatedTime();
  const timeline = sharedClock(time)();
  const at: number[] = [];
  const work = async (wait: number) => {
    await timeline.wait(wait);
    await new Promise((resolve) => setTimeout(resolve, 5));
    at.push(time.now);
  };
  await time.runUntil(Promise.all([200, 100, 300].map((wait) => timeline.run(() => work(wait)))));
  expect(at).toEqual([100, 200, 300]);
});

test("time stands still while a tool runs, and passes while it waits for its session", async () => {
  const time = new SimulatedTime();
  const { media } = time;
  const reply = (ms: number) => new Promise<void>((resolve) => void media.after(ms, resolve));
  const times: number[] = [];
  let ticks = 0;
  const tick = () => {
    ticks++;
    media.after(100, tick);
  };
  tick();
  const tool = media.holdWith?.({ reply, name: "session" }, async (session) => {
    await new Promise((resolve) => setTimeout(resolve, 5));
    times.push(time.now);
    await Promise.all([session.reply(500), session.reply(1_000)]);
    const before = ticks;
    await new Promise((resolve) => setTimeout(resolve, 5));
    times.push(time.now, ticks - before);
    session.reply(5_000); // Nobody waits for it.
    return session.name;
  });
  await time.runUntil(Promise.resolve(tool));
  expect([times, await tool, time.now]).toEqual([[0, 1_000, 0], "session", 1_000]);
  await time.runUntil(reply(300));
  expect(time.now).toBe(1_300);
});

test.each([Number.POSITIVE_INFINITY, Number.NaN, -1, "5", null])(
  "a wait of %s is refused, and the time stays what it is",
  (ms) => {
    const clock = virtualClock();
    const before = clock();
    expect(() => Reflect.apply(clock.wait, undefined, [ms])).toThrow(
      "milliseconds must be a finite number, 0 or more",
    );
    expect(clock()).toBe(before);
  },
);
