import { expect, test } from "vitest";
import { SimulatedTime } from "../../../src/testing/simulated-time.ts";

test("an activity that begins before the end of the one before it was noticed doesn't stop the time", async () => {
  const time = new SimulatedTime();
  const timeline = time.clock();
  const first = timeline.run(async () => {});
  const second = timeline.run(() => timeline.wait(100));
  await time.runUntil(Promise.all([first, second]));
  expect(time.now).toBe(100);
});

test("time stands still while any of several activities works, and each wait takes its own time", async () => {
  const time = new SimulatedTime();
  const timeline = time.clock();
  const at: number[] = [];
  const work = async (wait: number) => {
    await timeline.wait(wait);
    await new Promise((resolve) => setTimeout(resolve, 5));
    at.push(time.now);
  };
  await time.runUntil(Promise.all([200, 100, 300].map((wait) => timeline.run(() => work(wait)))));
  expect(at).toEqual([100, 200, 300]);
});
