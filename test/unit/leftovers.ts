import { afterAll, beforeAll, expect } from "vitest";

/** Timers that keep this process alive; the one of the hook that asks is among them. */
const timers = (): number =>
  process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;

let before: number;

// The files share their workers: a timer that one of them leaves behind fires in another, whose clock may be false.
beforeAll(() => {
  before = timers();
});
afterAll(() => {
  expect(timers(), "timers that this file leaves behind").toBeLessThanOrEqual(before);
});
