import fc from "fast-check";
import { parse, safeParse } from "valibot";
import { describe, expect, test } from "vitest";
import { Event } from "../../../src/callbacks/event.ts";

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

describe("the schema of a notification", () => {
  test("gives the current form as it is", () => {
    expect(parse(Event, current)).toEqual(current);
  });

  test("gives the older form as the current one, and keeps what only that has", () => {
    const { from, to } = current.data;
    const data = { call_id: "cs_1", from, to };
    const older = { event: "call.ringing", account_id: "acc_1", call_app_id: "app_1", data };
    expect(parse(Event, older)).toEqual({
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
    expect(parse(Event, newer)).toEqual(newer);
    expect(parse(Event, { type: "constructor", call_id: "cs_1" }).type).toBe("constructor");
  });

  test("keeps fields that it doesn't know", () => {
    const more = { ...current, region: "eu", data: { ...current.data, cost: { cents: 3 } } };
    expect(parse(Event, more)).toEqual(more);
  });

  test.each([
    ["id", 7],
    ["api_version", null],
    ["occurred_at", 1_780_000_000],
    ["account_id", {}],
  ])("leaves a wrong %s out, rather than lose the notification", (field, wrong) => {
    const event = parse(Event, { ...current, [field]: wrong });
    expect(event[field]).toBeUndefined();
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
    expect(event.data[field]).toBeUndefined();
  });

  test.each([
    [{ ...current, type: "" }, "type", "must be a string that isn't empty"],
    [{ ...current, type: 7 }, "type", "must be a string that isn't empty"],
    [{ ...current, type: undefined }, "type", "must be a string that isn't empty"],
    [{ ...current, call_id: "" }, "call_id", "must be a string that isn't empty"],
    [{ ...current, call_id: ["MARKED"] }, "call_id", "must be a string that isn't empty"],
    [{ ...current, data: "MARKED" }, "data", "must be an object"],
    [{ ...current, data: null }, "data", "must be an object"],
  ])("refuses what doesn't say which call or what happened", (wrong, field, rule) => {
    const { success, issues } = safeParse(Event, wrong);
    expect(success).toBe(false);
    expect(issues?.[0].path?.[0].key).toBe(field);
    expect(issues?.map(({ message }) => message)).toEqual([rule]);
  });

  test("takes no prototype from outside", () => {
    const text = '{"type":"a","call_id":"b","__proto__":{"x":1},"data":{"__proto__":{"x":1}}}';
    const event = parse(Event, JSON.parse(text));
    expect(event.x).toBeUndefined();
    expect(event.data.x).toBeUndefined();
  });

  test("throws nothing, whatever JSON it gets", () => {
    fc.assert(fc.property(fc.jsonValue(), (value) => void safeParse(Event, value)));
  });

  test("tells the known types apart in a switch", () => {
    const told = (event: Event): string | number | undefined => {
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
        default:
          return event.type;
      }
    };
    expect(told(parse(Event, current))).toBe(42);
    expect(told({ type: "call.failed", call_id: "cs_1", data: { reason: "busy" } })).toBe("busy");
    expect(told({ type: "call.new", call_id: "cs_1", data: {} })).toBe("call.new");
  });
});
