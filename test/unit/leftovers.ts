import { afterAll, beforeAll, expect, vi } from "vitest";

/** Timers that keep this process alive; the one of the hook that asks is among them. */
const timers = (): number =>
  process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;

// vitest looks once at what setTimeout returns, when it is first asked about its timers: not while a test has a stub of it.
vi.isFakeTimers();

let before: number;

// The files share their workers: a timer that one of them leaves behind fires in another, whose clock may be false.
beforeAll(() => {
  before = timers();
});
afterAll(async () => {
  // A message of vitest's own has a timer too, until it is answered.
  const end = Date.now() + 5_000;
  while (timers() > before && Date.now() < end) await new Promise(setImmediate);
  expect(timers(), "timers that this file leaves behind").toBeLessThanOrEqual(before);
});
