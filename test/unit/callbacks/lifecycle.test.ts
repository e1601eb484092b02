import fc from "fast-check";
import { parse } from "valibot";
import { expect, test } from "vitest";
import { Event, type UnknownEvent } from "../../../src/callbacks/event.ts";
import { byOccurrence, didRing, isFinal } from "../../../src/callbacks/lifecycle.ts";

const event = (type: string, occurred_at?: string, reason?: string): Event | UnknownEvent =>
  parse(Event, { type, call_id: "cs_1", occurred_at, data: { reason } });

test("what is about no call ends none", () => {
  expect(isFinal(parse(Event, { type: "call.completed", data: null }))).toBe(false);
});

test.each([
  ["call.initiated", false],
  ["call.ringing", false],
  ["call.answered", false],
  ["call.completed", true],
  ["call.failed", true],
  ["call.transferred", false],
])("%s is final: %s", (type, final) => expect(isFinal(event(type))).toBe(final));

test.each([
  ["call.initiated", undefined, false],
  ["call.ringing", undefined, true],
  ["call.answered", undefined, true],
  ["call.completed", "normal", true],
  ["call.failed", "no_answer", true],
  ["call.failed", "busy", false],
  ["call.failed", "rejected", false],
  ["call.failed", "unreachable", false],
  ["call.failed", "canceled", false],
  ["call.failed", undefined, false],
  ["call.transferred", undefined, false],
])("%s with %s alone shows that it rang: %s", (type, reason, rang) =>
  expect(didRing([event(type, undefined, reason)])).toBe(rang),
);

test("a call rang when any of its events shows it", () => {
  const rejected = [event("call.initiated"), event("call.failed", undefined, "rejected")];
  expect(didRing(rejected)).toBe(false);
  expect(didRing([...rejected, event("call.ringing")])).toBe(true);
  expect(didRing([])).toBe(false);
  expect(didRing(new Set([event("call.ringing")]))).toBe(true);
});

test("events are in order of their time, whatever the precision and the order of arrival", () => {
  const events = [
    event("call.completed", "2026-06-01T10:00:10.5Z"),
    event("call.initiated", "2026-06-01T10:00:00Z"),
    event("call.answered", "2026-06-01T10:00:10.25Z"),
    event("call.ringing", "2026-06-01T10:00:09.999Z"),
  ];
  expect(events.sort(byOccurrence).map(({ type }) => type)).toEqual([
    "call.initiated",
    "call.ringing",
    "call.answered",
    "call.completed",
  ]);
});

test("their time comes before the order of a call: what is repeated is told later", () => {
  const again = event("call.ringing", "2026-06-01T10:00:11Z");
  const done = event("call.completed", "2026-06-01T10:00:10Z");
  expect([again, done].sort(byOccurrence)).toEqual([done, again]);
  const older = event("call.completed");
  expect([again, older].sort(byOccurrence)).toEqual([older, again]);
});

test("events of one moment, or without a time, are in the order of a call", () => {
  for (const time of [undefined, "2026-06-01T10:00:00Z", "yesterday"]) {
    const types = ["call.failed", "call.answered", "call.initiated", "call.ringing"];
    const events = types.map((type) => event(type, time));
    expect(events.sort(byOccurrence).map(({ type }) => type)).toEqual([
      "call.initiated",
      "call.ringing",
      "call.answered",
      "call.failed",
    ]);
  }
});

test("the order is one: whatever is sorted is sorted for every pair", () => {
  const types = ["call.initiated", "call.ringing", "call.answered", "call.failed", "call.new"];
  const times = [undefined, "yesterday", "2026-06-01T10:00:00Z", "2026-06-01T10:00:01Z"];
  const some = fc
    .tuple(fc.constantFrom(...types), fc.constantFrom(...times))
    .map(([type, time]) => event(type, time));
  fc.assert(
    fc.property(fc.array(some), (events) => {
      events.sort(byOccurrence);
      events.forEach((first, index) => {
        for (const second of events.slice(index)) {
          expect(byOccurrence(first, second)).toBeLessThanOrEqual(0);
        }
      });
    }),
  );
});
