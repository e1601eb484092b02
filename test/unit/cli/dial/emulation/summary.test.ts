import { expect, test } from "vitest";
import type { Result } from "../../../../../src/campaigns/index.ts";
import { countsOf } from "../../../../../src/campaigns/progress.ts";
import type { EmulatedCall } from "../../../../../src/cli/dial/emulation/calls.ts";
import { figuresOf } from "../../../../../src/cli/dial/emulation/figures.ts";
import type { Emulation } from "../../../../../src/cli/dial/emulation/run.ts";
import { type Summary, summaryLines } from "../../../../../src/cli/dial/emulation/summary.ts";
import { localTimes } from "../../../../../src/cli/dial/emulation/times.ts";

/** A Saturday in Berlin: summer time ends in the night. */
const from = Date.parse("2026-10-24T07:00:00Z");
const hour = 3_600_000;

const callAt = (startedAt: number, seconds: number, text = "Hello."): EmulatedCall => ({
  ...{ startedAt, endedAt: startedAt + seconds * 1_000, isAnswered: true },
  conversation: [
    { type: "hears", text },
    { type: "presses", text: "" },
  ],
});

const resultOf = (contact: number, disposition: Result["disposition"]): Result => ({
  ...{ contact, to_number: `+1202555010${contact}`, id: undefined, disposition, attempts: 1 },
  ...{ reason: undefined, call_id: undefined, startedAt: undefined, endedAt: undefined },
  ...{ duration: undefined, answered_by: undefined, recordings: [], variables: {} },
  answers: contact === 2 ? { visit: "5" } : {},
});

const emulation: Emulation = {
  ...{ from, to: from + 26 * hour, errors: new Map([["no such appointment", 2]]) },
  progress: { ...countsOf((state) => (state === "completed" ? 3 : 0)), state: "running" },
  results: [resultOf(1, "completed"), resultOf(2, "completed"), resultOf(3, "completed")],
  calls: new Map([
    ["+12025550101", [callAt(from, 60)]],
    ["+12025550102", [callAt(from + 30_000, 60), callAt(from + 90_000, 60)]],
    ["+12025550103", [callAt(from + 25 * hour, 60, "Good day, ".repeat(12))]],
  ]),
};

const textOf = (more: Partial<Summary> = {}): string => {
  const times = localTimes("Europe/Berlin");
  const summary = {
    ...{ emulation, figures: figuresOf(more.emulation ?? emulation, times), times },
    ...{ unreached: ["stop", "onMachine"], isInterrupted: false, hints: [], ...more },
  };
  return summaryLines(summary).join("\n");
};

test("a summary fits on 80 columns, and has days by the local clock", () => {
  expect(textOf()).toBe(`Nobody was called: this is what would happen on the emulator.

Calls       4 calls to 3 contacts, at most 2 at once, 60 s each on average

Time        1 d 2 h, if it began now:
            Sat 2026-10-24 09:00 to Sun 2026-10-25 10:00, Europe/Berlin
            Sat 2026-10-24  09:00 to 09:01  3 calls
            Sun 2026-10-25  09:00 to 09:00  1 call

Contacts    3  100.0 %  completed

Answers     visit  5: 1, none: 2

In a call   3 contacts such as +12025550101: completed
              hears    Hello.
              presses  nothing

Not reached stop, onMachine

Errors      2 times: no such appointment`);
});

test("a long text is broken, and control characters don't reach the terminal", () => {
  const calls = new Map([
    ["+12025550101", [callAt(from, 1, `Good\u001b[2J day ${"again ".repeat(20)}`)]],
  ]);
  const lines = textOf({ emulation: { ...emulation, calls } }).split("\n");
  expect(lines.filter((line) => line.length > 80)).toEqual([]);
  expect(lines.join("")).not.toContain("\u001b");
});

test.each([
  ["running", false, "no call can begin within these hours"],
  ["running", true, "interrupted"],
  ["paused", false, "paused: HTTP 402"],
] as const)("contacts that wait are counted, with the reason (%s)", (state, isInterrupted, why) => {
  const counts = countsOf((each) => (each === "waiting" ? 2_000 : 0));
  const progress = { ...counts, state, reason: "HTTP 402" };
  const text = textOf({ emulation: { ...emulation, progress }, isInterrupted });
  expect(text).toContain(`Not called  2,000 contacts: ${why}`);
});
