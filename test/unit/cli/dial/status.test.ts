import { expect, it } from "vitest";
import type { Progress } from "../../../../src/campaigns/index.ts";
import { statusLine } from "../../../../src/cli/dial/status.ts";

const none: Progress = {
  ...{ state: "running", done: false, contacts: 0, waiting: 0, calling: 0 },
  ...{ completed: 0, busy: 0, no_answer: 0, rejected: 0, unreachable: 0, refused: 0, unknown: 0 },
  ...{ expired: 0, canceled: 0, skipped: 0, placed: 0 },
};

const now = Date.parse("2026-06-03T10:00:00Z");
const standing = { rate: 5, opens: now, now, stopping: false };

const half: Progress = {
  ...none,
  ...{ contacts: 1_000, waiting: 480, calling: 20, completed: 400, busy: 60, no_answer: 40 },
};

it("tells bar, done, live, time left, pace and outcomes", () => {
  expect(statusLine(half, standing)).toBe(
    "[##########----------] 500/1000  20 live  1 min 36 s left at 5/s  400 completed, 60 busy, 40 no answer",
  );
});

it("tells the pace as it is now, and what is left by it", () => {
  expect(statusLine(half, { ...standing, rate: 2.5 })).toContain("3 min 12 s left at 2.5/s");
  expect(statusLine(half, { ...standing, rate: 1.23456 })).toContain("at 1.23/s");
});

it("tells when the next call begins, outside of the hours and before a next attempt", () => {
  const opens = now + 11 * 3_600_000 + 30 * 60_000;
  expect(statusLine(half, { ...standing, opens })).toContain("next call in 11 h 30 min");
});

it("tells that nobody waits any more, and calls still live", () => {
  const last = { ...none, contacts: 3, calling: 1, completed: 2 };
  expect(statusLine(last, standing)).toContain(
    "] 2/3  1 live  waiting for the last calls  2 completed",
  );
});

it("tells what a second ctrl-C does, once there was one", () => {
  expect(statusLine(half, { ...standing, stopping: true })).toContain(
    "stopping: waiting for the live calls; ctrl-C again leaves them",
  );
});

it("tells nothing of waiting once nobody waits and no call lives", () => {
  const all = { ...none, done: true, contacts: 3, completed: 3 };
  const never = Number.POSITIVE_INFINITY;
  for (const stopping of [true, false]) {
    expect(statusLine(all, { ...standing, stopping, opens: never })).toMatch(
      /3\/3 {2}0 live {2}3 completed$/,
    );
  }
});

it("has a full bar at the end, and an empty one for an empty list", () => {
  const all = { ...none, done: true, contacts: 3, completed: 3 };
  expect(statusLine(all, standing)).toContain(`[${"#".repeat(20)}] 3/3`);
  expect(statusLine(none, standing)).toContain(`[${"-".repeat(20)}] 0/0`);
});
