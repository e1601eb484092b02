import fc from "fast-check";
import { parse, safeParse } from "valibot";
import { describe, expect, test } from "vitest";
import {
  byOccurrence,
  CallEvent,
  didRing,
  isFinal,
  type UnknownEvent,
} from "../../../src/callbacks/event.ts";

const current = {
  id: "evt_1",
  type: "call.completed",
  api_version: "2026-06-01",
  occurred_at: "2026-06-01T10:00:00.000Z",
  account_id: "acc_1",
  call_id: "cs_1",
  data: {
    call_id: "cs_1",
    from: "+12025550177",
    to: "+12025550188",
    duration: 42,
    hangup_time: "2026-06-01T10:00:00.000Z",
    reason: "normal",
    recording_url: "https://voice.test/recordings/cs_1.wav",
  },
};

const known = { known: true };
const unknown = { known: false };

describe("the schema of a notification", () => {
  test("gives the current form as it is", () => {
    expect(parse(CallEvent, current)).toEqual({ ...known, ...current });
  });

  test("gives the older form as the current one, and keeps what only that has", () => {
    const { from, to } = current.data;
    const data = { call_id: "cs_1", from, to };
    const older = { event: "call.ringing", account_id: "acc_1", call_app_id: "app_1", data };
    expect(parse(CallEvent, older)).toEqual({
      known: true,
      type: "call.ringing",
      account_id: "acc_1",
      call_app_id: "app_1",
      call_id: "cs_1",
      data,
    });
  });

  test("takes the type over an event of the same name as the older form's", () => {
    const both = { type: "call.answered", event: "call.ringing", call_id: "cs_1", data: {} };
    expect(parse(CallEvent, both).type).toBe("call.answered");
  });

  test("keeps a type that it doesn't know as data", () => {
    const newer = {
      type: "call.transferred",
      call_id: "cs_1",
      data: { to: "+1", legs: [{ a: 1 }] },
    };
    expect(parse(CallEvent, newer)).toEqual({ ...unknown, ...newer });
    expect(parse(CallEvent, { type: "constructor", call_id: "cs_1" }).type).toBe("constructor");
  });

  test("keeps fields that it doesn't know", () => {
    const more = { ...current, region: "eu", data: { ...current.data, price: { cents: 3 } } };
    expect(parse(CallEvent, more)).toEqual({ ...known, ...more });
  });

  test.each([
    ["id", 7],
    ["api_version", null],
    ["occurred_at", 1_780_000_000],
    ["account_id", {}],
  ])("leaves a wrong %s out, rather than lose the notification", (field, wrong) => {
    const event = parse(CallEvent, { ...current, [field]: wrong });
    expect(event).not.toHaveProperty(field);
    expect(event.call_id).toBe("cs_1");
  });

  test.each([
    ["from", 7],
    ["to", null],
    ["duration", "42"],
    ["duration", null],
    ["duration", JSON.parse("1e999")],
    ["reason", 7],
    ["hangup_time", 7],
    ["recording_url", false],
  ])("leaves a wrong %s of its data out: %j", (field, wrong) => {
    const event = parse(CallEvent, { ...current, data: { ...current.data, [field]: wrong } });
    expect(event.data).not.toHaveProperty(field);
    expect(event.known).toBe(true);
  });

  test.each([
    { ...current, type: "" },
    { ...current, type: 7 },
    { ...current, type: null },
    { ...current, type: undefined },
    {},
    [],
    null,
    "call.ringing",
  ])("refuses what doesn't say what happened: %j", (wrong) => {
    const { success, issues } = safeParse(CallEvent, wrong);
    expect(success).toBe(false);
    expect(issues?.map(({ message }) => message)).toEqual([
      "type must be a string that isn't empty",
    ]);
  });

  test.each(["", 7, null, undefined, ["cs_2"]])(
    "takes the call's id out of data where it isn't reported before: %j",
    (call_id) => {
      expect(parse(CallEvent, { ...current, call_id })).toEqual({ ...known, ...current });
      const data = { to: "+1" };
      const about = { ...current, call_id, data };
      expect(parse(CallEvent, about)).toEqual({ ...unknown, ...about, call_id: null });
    },
  );

  test.each([null, undefined, 7, "text", true])("takes %j for no data", (data) => {
    expect(parse(CallEvent, { ...current, data })).toEqual({ ...known, ...current, data: {} });
    const newer = { type: "stream.started", call_id: "cs_1", data };
    expect(parse(CallEvent, newer)).toEqual({ ...unknown, ...newer, data: null });
  });

  test("gives what it gave before the same way: an event that was kept is read again", () => {
    for (const payload of [current, { type: "stream.started" }]) {
      const event = parse(CallEvent, payload);
      expect(parse(CallEvent, JSON.parse(JSON.stringify(event)))).toEqual(event);
    }
  });

  test("believes nobody about what it knows", () => {
    expect(parse(CallEvent, { type: "stream.started", known: true }).known).toBe(false);
    expect(parse(CallEvent, { ...current, known: false }).known).toBe(true);
  });

  test("takes no prototype from outside", () => {
    const text = '{"type":"a","call_id":"b","__proto__":{"x":1},"data":{"__proto__":{"x":1}}}';
    const event = parse(CallEvent, JSON.parse(text));
    expect(Object.assign({}, event)).not.toHaveProperty("x");
    expect(Object.assign({}, event.data)).not.toHaveProperty("x");
  });

  test("throws nothing, whatever JSON it gets", () => {
    fc.assert(fc.property(fc.jsonValue(), (value) => void safeParse(CallEvent, value)));
  });

  test("tells the known types apart in a switch", () => {
    const reported = (event: CallEvent | UnknownEvent): string | number | undefined => {
      if (!event.known) return event.type;
      switch (event.type) {
        case "call.completed":
          return event.data.duration;
        case "call.failed":
          return event.data.reason;
        case "call.initiated":
          return event.data.start_time;
        case "call.answered":
          return event.data.answer_time;
        case "call.machine_detected":
          return event.data.answered_by;
        case "call.ringing":
          return event.data.to;
        default: {
          const none: never = event;
          return none;
        }
      }
    };
    expect(reported(parse(CallEvent, current))).toBe(42);
    expect(reported(parse(CallEvent, { ...current, type: "call.failed" }))).toBe("normal");
    expect(reported(parse(CallEvent, { ...current, type: "call.new" }))).toBe("call.new");
  });
});

const event = (type: string, occurred_at?: string, reason?: string): CallEvent | UnknownEvent =>
  parse(CallEvent, { type, call_id: "cs_1", occurred_at, data: { reason } });

test("what is about no call ends none", () => {
  expect(isFinal(parse(CallEvent, { type: "call.completed", data: null }))).toBe(false);
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

test("their time comes before the order of a call: what is repeated is reported later", () => {
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
