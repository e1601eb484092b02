import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Progress } from "../../../../src/campaigns/index.ts";
import {
  Speed,
  type StatusTerminal,
  showStatus,
  statusLine,
  summaryLines,
} from "../../../../src/cli/dial/status.ts";

const none: Progress = {
  ...{ state: "running", done: false, contacts: 0, waiting: 0, calling: 0, unclear: 0 },
  ...{
    completed: 0,
    machine: 0,
    message_left: 0,
    flow_error: 0,
    busy: 0,
    no_answer: 0,
    rejected: 0,
    unreachable: 0,
    refused: 0,
    unknown: 0,
  },
  ...{ expired: 0, canceled: 0, call_back_missed: 0, blocked: 0, placed: 0 },
};

const now = Date.parse("2026-06-03T10:00:00Z");
const running = { rate: 5, nextCall: now, end: now + 96_000, now, stopping: false };

const half: Progress = {
  ...none,
  ...{ contacts: 1_000, waiting: 480, calling: 20, completed: 400, busy: 60, no_answer: 40 },
};

const wide = 200;

it("shows progress, time left, live calls and outcomes, the most important first", () => {
  expect(statusLine(half, running, wide)).toBe(
    "500/1000 done  480 waiting, about 1 min 36 s left at 5/s  20 live  " +
      "400 completed, 60 busy, 40 no answer  [##########----------]",
  );
});

it("shows what is unclear and until when, and the age of the oldest live call", () => {
  const progress: Progress = {
    ...half,
    ...{ calling: 19, callingSince: now - 185_000, unclear: 1, unclearUntil: now + 3_600_000 },
  };
  const time = new Date(now + 3_600_000).toTimeString().slice(0, 5);
  const line = statusLine(progress, running, wide);
  expect(line).toMatch(/^500\/1000 done /);
  expect(line).toMatch(new RegExp(`  1 unclear, until (\\d{4}-\\d\\d-\\d\\d )?${time}  `));
  expect(line).toContain("  19 live, the oldest for 3 min 5 s  ");
  const last = { ...progress, contacts: 521, waiting: 0, calling: 0, callingSince: undefined };
  expect(statusLine(last, running, wide)).toContain("ctrl-C leaves it to the ledger");
  expect(summaryLines(last, { ledger: "l", interrupted: true }).join()).toContain("1 unclear: may");
});

it.each([119, 100, 80, 60, 40, 14, 5])("fits %i columns, whole parts first", (width) => {
  const line = statusLine(half, { ...running, trouble: "the service cannot be reached" }, width);
  expect(line.length).toBeLessThanOrEqual(width);
  expect("500/1000 done".startsWith(line.slice(0, 13).trimEnd())).toBe(true);
});

it("shows why calls cannot be placed before everything but the progress", () => {
  const trouble = "the service cannot be reached";
  expect(statusLine(half, { ...running, trouble }, 50)).toBe(`500/1000 done  ${trouble}`);
});

it("shows the present rate", () => {
  expect(statusLine(half, { ...running, rate: 1.23456 }, wide)).toContain("at 1.23/s");
});

it("promises no time while no call begins, because too many are live", () => {
  expect(statusLine(half, { ...running, isFull: true }, wide)).toContain(
    "done  480 waiting until a live call ends  20 live",
  );
});

it("shows when the next call begins, outside the hours and before a next attempt", () => {
  const nextCall = now + 11 * 3_600_000 + 30 * 60_000;
  expect(statusLine(half, { ...running, nextCall }, wide)).toContain(
    "480 waiting, next call in 11 h 30 min",
  );
});

it("shows that only live calls are left", () => {
  const last = { ...none, contacts: 3, calling: 1, completed: 2 };
  expect(statusLine(last, running, wide)).toMatch(
    /^2\/3 done {2}waiting for the last calls {2}1 live {2}2 completed/,
  );
});

it("shows what a second ctrl-C does, after the first", () => {
  expect(statusLine(half, { ...running, stopping: true }, wide)).toContain(
    "stopping: waiting for the live calls; ctrl-C again leaves them",
  );
});

it("has a full bar at the end, and an empty one for an empty list", () => {
  const all = { ...none, done: true, contacts: 3, completed: 3 };
  expect(statusLine(all, running, wide)).toBe(`3/3 done  0 live  3 completed  [${"#".repeat(20)}]`);
  expect(statusLine(none, running, wide)).toContain(`[${"-".repeat(20)}]`);
});

const end = { ledger: "people.outdial", interrupted: false };

it("ends with the outcomes and the next step", () => {
  const all = { ...none, done: true, contacts: 3, completed: 2, busy: 1 };
  expect(summaryLines(all, end)).toEqual([
    "3 of 3 done: 2 completed, 1 busy",
    "Next: outdial results people.outdial > results.csv",
  ]);
});

it("explains unknown contacts", () => {
  const text = summaryLines({ ...none, contacts: 1, unknown: 1 }, end).join(" ");
  expect(text).toMatch(/1 unknown: may have been called, and .* not called again/);
  expect(text).toMatch(/look the calls up at the service/);
});

it("says after ctrl-C that the same command resumes, and after a pause why", () => {
  const paused = { ...half, state: "paused", reason: "HTTP 403" } as const;
  expect(summaryLines(paused, { ...end, interrupted: true }).join()).toMatch(
    /Interrupted with 480 waiting: the same command resumes where it left off/,
  );
  expect(summaryLines(paused, end).join()).toMatch(/Paused: HTTP 403.*the same command resumes/);
});

it("measures how many calls begin per second, over the last minute", () => {
  const speed = new Speed();
  expect(speed.measure({ contacts: 100, waiting: 100 }, 0)).toBeUndefined();
  expect(speed.measure({ contacts: 100, waiting: 99 }, 1_000)).toBeUndefined();
  expect(speed.measure({ contacts: 100, waiting: 96 }, 2_000)).toBe(2);
  expect(speed.measure({ contacts: 100, waiting: 36 }, 62_000)).toBe(1);
});

describe("the status line that is kept", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  const terminalOf = (columns?: number) => {
    const written: string[] = [];
    const write = async (line: string) => {
      written.push(line);
      return true;
    };
    const terminal: StatusTerminal = { columns, report: write, replaceLine: write };
    return { terminal, written };
  };

  it.each([
    [80, ["1", "2", "3", ""]],
    [undefined, ["1", "2"]],
  ])("ends when it is hidden, with %s columns", async (columns, lines) => {
    const { terminal, written } = terminalOf(columns);
    let count = 0;
    const hide = showStatus(terminal, () => String(++count));
    await vi.advanceTimersByTimeAsync(columns === undefined ? 60_000 : 500);
    hide();
    hide();
    expect([written, vi.getTimerCount()]).toEqual([lines, 0]);
  });

  it.each([1, 2])("ends when line %i can't be computed, and throws nothing", async (last) => {
    const { terminal, written } = terminalOf(80);
    let count = 0;
    const hide = showStatus(terminal, () => {
      if (++count === last) throw new Error("disk I/O error");
      return String(count);
    });
    await vi.advanceTimersByTimeAsync(1_000);
    expect([count, vi.getTimerCount(), written.at(-1)]).toEqual([last, 0, ""]);
    hide();
    expect(written).toHaveLength(last);
  });
});
