import { expect, it } from "vitest";
import { eventLine, Summary } from "../../../../src/cli/emulator/events.ts";
import type { CallState, EmulatorEvent, Reason } from "../../../../src/emulator/index.ts";

const now = new Date(2026, 10, 21, 9, 8, 7, 65);
const stamp = { at: "2026-11-21T00:00:00.000Z", call_id: "cs_01M7YDMEHK13QJXM7S9Z78TCVX" };
const start = "09:08:07.065  78TCVX  ";
const lineOf = (event: EmulatorEvent) =>
  eventLine(
    event,
    now,
    () => undefined,
    (_, text) => text,
  );
const request = { url: "https://app.test/status", headers: {}, body: "{}" };
const type = "notification" as const;
const notification = { ...stamp, type, id: "evt_1", event: "call.ringing", request };

it.each<readonly [EmulatorEvent, string]>([
  [{ ...stamp, type: "state", state: "ringing" }, `${start}ringing`],
  [{ ...stamp, type: "state", state: "failed", reason: "busy" }, `${start}failed      busy`],
  [
    { ...notification, try: 1, outcome: "delivered", ms: 3, status: 204 },
    `${start}notified    call.ringing, delivered, try 1, 204 in 3 ms`,
  ],
  [
    { ...notification, try: 6, outcome: "given_up", ms: 3, error: "connect ECONNREFUSED" },
    `${start}notified    call.ringing, given up, try 6, connect ECONNREFUSED`,
  ],
  [
    { ...stamp, type: "flow", step: 2, url: "https://app.test/flow", ms: 9 },
    `${start}flow        step 2, no answer in 9 ms, https://app.test/flow`,
  ],
  [
    { ...stamp, type: "flow_error", step: 1, field: "to", message: "step 1:\n\u001b[2J to" },
    `${start}flow error  step 1: [2J to`,
  ],
  [{ ...stamp, type: "action", step: 1, action: { action: "hangup" } }, `${start}hangup`],
  [
    {
      ...stamp,
      type: "action",
      step: 1,
      action: { action: "play", media_url: "https://app.test/a.wav" },
      duration: 2_500,
    },
    `${start}play        for 2.5 s`,
  ],
  [
    { ...stamp, type: "leg", step: 1, to: "+12025550101", state: "failed", reason: "busy" },
    `${start}leg         +12025550101 failed busy`,
  ],
  [
    { ...stamp, type: "leg", step: 1, to: "sip:a@app.test", state: "ringing" },
    `${start}leg         sip:a@app.test ringing`,
  ],
  [
    {
      ...stamp,
      type: "stream",
      step: 1,
      stream_id: "st_1",
      state: "open",
      from_ms: 0,
      sent: 1,
      received: 2,
      malformed: [],
      malformed_count: 0,
      ignored: [],
    },
    `${start}stream      open, 1 sent, 2 received`,
  ],
  [
    {
      ...stamp,
      type: "stream",
      step: 1,
      stream_id: "st_1",
      state: "closed",
      from_ms: 0,
      sent: 1,
      received: 2,
      malformed: ["must be text", "must be JSON"],
      malformed_count: 9,
      ignored: [],
    },
    `${start}stream      closed, 1 sent, 2 received, 9 not understood, the first: must be text`,
  ],
  [
    { ...stamp, type: "cut", step: 1, by: "clear", at_ms: 400, samples: 80 },
    `${start}stream      clear, 80 samples not played`,
  ],
  [
    { ...stamp, type: "error", source: "onCall", message: "no idea" },
    `${start}error       in onCall: no idea`,
  ],
  [{ type: "reset", at: stamp.at }, "09:08:07.065          reset       all calls are forgotten"],
  [
    {
      type: "refused",
      at: stamp.at,
      method: "POST",
      path: "/api/v1/calls/initiate",
      status: 403,
      detail: "Invalid API Key.",
    },
    "09:08:07.065          refused     POST /api/v1/calls/initiate, HTTP 403: Invalid API Key.",
  ],
])("prints %j on one line", (event, line) => {
  expect(lineOf(event)).toBe(line);
});

const state = (to: CallState, reason?: Reason): EmulatorEvent => ({
  ...stamp,
  type: "state",
  state: to,
  ...(reason && { reason }),
});
const refused = {
  type: "refused",
  at: stamp.at,
  method: "POST",
  path: "/",
  status: 403,
  detail: "Invalid API Key.",
} as const;

const summaryOf = (events: readonly EmulatorEvent[]) => {
  const summary = new Summary();
  for (const event of events) summary.count(event);
  return String(summary);
};

it("summarizes that nothing happened", () => {
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
