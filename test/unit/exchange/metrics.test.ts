import { expect, it } from "vitest";
import { Metrics } from "../../../src/exchange/metrics.ts";
import { callOf, failedOf, fakeService } from "./fake-service.ts";

const call_id = "cs_01KB4Z9N3V7XGQJ5T8WYRMH2PD";

it("shows calls, refusals, notifications, Asterisk and recordings as Prometheus reads them", () => {
  const service = fakeService();
  service.live.push(callOf("a"), callOf("b", { state: "ringing" }), callOf("c"));
  service.failedNotifications.push(failedOf("given up"), failedOf("waits", { state: "pending" }));
  const metrics = new Metrics();
  metrics.add({ type: "stored", call_id, side: "outdial" });
  metrics.add({ type: "ended", call_id, state: "failed", reason: "busy", talkTime: 0 });
  for (const talkTime of [1_000, 2_600]) {
    metrics.add({ type: "ended", call_id, state: "completed", reason: "normal", talkTime });
  }
  metrics.add({ type: "refused", side: "outdial", status: 403, rule: "prefix" });
  metrics.add({ type: "asterisk", state: "lost" });
  metrics.add({ type: "recording_failed", call_id, code: "ENOSPC" });
  const now = Date.parse("2026-11-28T10:01:00Z");
  const text = metrics.text({ service, recordings: { bytes: 4_711 }, now });
  expect(text.split("\n").filter((line) => !line.startsWith("#"))).toEqual([
    "outdial_asterisk_up 1",
    'outdial_calls{state="initiated"} 0',
    'outdial_calls{state="ringing"} 1',
    'outdial_calls{state="answered"} 2',
    'outdial_notifications{state="pending"} 1',
    'outdial_notifications{state="given_up"} 1',
    "outdial_notifications_oldest_seconds 60",
    "outdial_recordings_bytes 4711",
    'outdial_calls_stored_total{side="outdial"} 1',
    'outdial_calls_total{state="failed",reason="busy"} 1',
    'outdial_calls_total{state="completed",reason="normal"} 2',
    "outdial_talk_seconds_total 4",
    'outdial_refusals_total{side="outdial",rule="prefix"} 1',
    "outdial_asterisk_lost_total 1",
    'outdial_recording_failures_total{code="ENOSPC"} 1',
    "",
  ]);
  // Each metric has its help and its type, before its values.
  for (const name of new Set(text.match(/^outdial_\w+/gm))) {
    expect(text).toMatch(new RegExp(`# HELP ${name} .+\n# TYPE ${name} (counter|gauge)\n`));
  }
});

it("has no label that somebody from outside has chosen", () => {
  const metrics = new Metrics();
  for (const rule of ["+12025550100", 'a"} 1\nevil 1', "x".repeat(100)]) {
    metrics.add({ type: "refused", side: "outdial", status: 403, rule });
  }
  const text = metrics.text({ service: fakeService(), recordings: undefined, now: 0 });
  expect(text).toContain('outdial_refusals_total{side="outdial",rule="other"} 3\n');
  expect(text).not.toMatch(/evil|12025550100|xxx/);
});
