import fc from "fast-check";
import { parse, safeParse } from "valibot";
import { describe, expect, test } from "vitest";
import { Event, type UnknownEvent } from "../../../src/callbacks/event.ts";

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
    expect(parse(Event, current)).toEqual({ ...known, ...current });
  });

  test("gives the older form as the current one, and keeps what only that has", () => {
    const { from, to } = current.data;
    const data = { call_id: "cs_1", from, to };
    const older = { event: "call.ringing", account_id: "acc_1", call_app_id: "app_1", data };
    expect(parse(Event, older)).toEqual({
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
    expect(parse(Event, both).type).toBe("call.answered");
  });

  test("keeps a type that it doesn't know as data", () => {
    const newer = {
      type: "call.transferred",
      call_id: "cs_1",
      data: { to: "+1", legs: [{ a: 1 }] },
    };
    expect(parse(Event, newer)).toEqual({ ...unknown, ...newer });
    expect(parse(Event, { type: "constructor", call_id: "cs_1" }).type).toBe("constructor");
  });

  test("keeps fields that it doesn't know", () => {
    const more = { ...current, region: "eu", data: { ...current.data, cost: { cents: 3 } } };
    expect(parse(Event, more)).toEqual({ ...known, ...more });
  });

  test.each([
    ["id", 7],
    ["api_version", null],
    ["occurred_at", 1_780_000_000],
    ["account_id", {}],
  ])("leaves a wrong %s out, rather than lose the notification", (field, wrong) => {
    const event = parse(Event, { ...current, [field]: wrong });
    expect(event).not.toHaveProperty(field);
    expect(event.call_id).toBe("cs_1");
  });

  test.each([
    ["from", 7],
    ["to", null],
    ["duration", "42"],
    ["duration", null],
    ["reason", 7],
    ["hangup_time", 7],
    ["recording_url", false],
  ])("leaves a wrong %s of its data out: %j", (field, wrong) => {
    const event = parse(Event, { ...current, data: { ...current.data, [field]: wrong } });
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
    const { success, issues } = safeParse(Event, wrong);
    expect(success).toBe(false);
    expect(issues?.map(({ message }) => message)).toEqual([
      "type must be a string that isn't empty",
    ]);
  });

  test.each(["", 7, null, undefined, ["cs_2"]])(
    "takes the call's id out of data where it isn't told before: %j",
    (call_id) => {
      expect(parse(Event, { ...current, call_id })).toEqual({ ...known, ...current });
      const data = { to: "+1" };
      const about = { ...current, call_id, data };
      expect(parse(Event, about)).toEqual({ ...unknown, ...about, call_id: null });
    },
  );

  test.each([null, undefined, 7, "text", true])("takes %j for no data", (data) => {
    expect(parse(Event, { ...current, data })).toEqual({ ...known, ...current, data: {} });
    const newer = { type: "stream.started", call_id: "cs_1", data };
    expect(parse(Event, newer)).toEqual({ ...unknown, ...newer, data: null });
  });

  test("gives what it gave before the same way: an event that was kept is read again", () => {
    for (const payload of [current, { type: "stream.started" }]) {
      const event = parse(Event, payload);
      expect(parse(Event, JSON.parse(JSON.stringify(event)))).toEqual(event);
    }
  });

  test("believes nobody about what it knows", () => {
    expect(parse(Event, { type: "stream.started", known: true }).known).toBe(false);
    expect(parse(Event, { ...current, known: false }).known).toBe(true);
  });

  test("takes no prototype from outside", () => {
    const text = '{"type":"a","call_id":"b","__proto__":{"x":1},"data":{"__proto__":{"x":1}}}';
    const event = parse(Event, JSON.parse(text));
    expect(Object.assign({}, event)).not.toHaveProperty("x");
    expect(Object.assign({}, event.data)).not.toHaveProperty("x");
  });

  test("throws nothing, whatever JSON it gets", () => {
    fc.assert(fc.property(fc.jsonValue(), (value) => void safeParse(Event, value)));
  });

  test("tells the known types apart in a switch", () => {
    const told = (event: Event | UnknownEvent): string | number | undefined => {
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
        case "call.ringing":
          return event.data.to;
        default: {
          const none: never = event;
          return none;
        }
      }
    };
    expect(told(parse(Event, current))).toBe(42);
    expect(told(parse(Event, { ...current, type: "call.failed" }))).toBe("normal");
    expect(told(parse(Event, { ...current, type: "call.new" }))).toBe("call.new");
  });
});
