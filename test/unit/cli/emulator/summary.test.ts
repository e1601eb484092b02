import { expect, it } from "vitest";
import { Summary } from "../../../../src/cli/emulator/summary.ts";
import type { CallState, EmulatorEvent, Reason } from "../../../../src/emulator/index.ts";

const stamp = { at: "2026-11-21T00:00:00.000Z", call_id: "cs_1" };
const state = (to: CallState, reason?: Reason): EmulatorEvent => ({
  ...stamp,
  type: "state",
  state: to,
  ...(reason && { reason }),
});
const refused = { type: "refused", at: stamp.at, method: "POST", path: "/", status: 403 } as const;

const summaryOf = (events: readonly EmulatorEvent[]) => {
  const summary = new Summary();
  for (const event of events) summary.count(event);
  return String(summary);
};

it("says that nothing happened", () => {
  expect(summaryOf([])).toBe("0 calls");
});

it("counts calls by their ends, and requests that were refused", () => {
  const calls = [
    ...[state("initiated"), state("ringing"), state("answered"), state("completed", "normal")],
    ...[state("initiated"), state("answered"), state("completed", "flow_error")],
    ...[state("initiated"), state("failed", "busy")],
    ...[state("initiated"), state("ringing"), state("failed", "no_answer")],
    state("initiated"),
  ];
  expect(summaryOf([...calls, refused])).toBe(
    "5 calls: 2 completed (1 flow error), 2 failed (1 busy, 1 no answer); 1 request refused",
  );
});
