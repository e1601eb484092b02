import { parse } from "valibot";
import { describe, expect, test } from "vitest";
import {
  byOccurrence,
  CallEvent,
  isFinal,
  type UnknownEvent,
} from "../../../src/callbacks/event.ts";
import { applicationSide } from "../../../src/carriers/vonage/application.ts";
import { FlowRequest } from "../../../src/flows/request.ts";
import { applicationId } from "./service.ts";

const application = applicationSide({ applicationId });
const decodeFlow = (body: string) => application.decodeFlow(body, "https://app.test/flow");

const at = "2026-11-22T04:00:07.000Z";
const call = {
  from: "12025550199",
  to: "12025550100",
  uuid: "aaaaaaaa-bbbb-cccc-dddd-0123456789ab",
  conversation_uuid: "CON-aaaaaaaa-bbbb-cccc-dddd-0123456789ab",
  direction: "outbound",
  timestamp: "2026-11-22T04:00:07Z",
};
const numbers = { from: "+12025550199", to: "+12025550100" };
const { uuid } = call;

const eventOf = (fields: object): CallEvent | UnknownEvent =>
  parse(CallEvent, application.decodeEvent(JSON.stringify({ ...call, ...fields })));

const end_time = "2026-11-22T04:00:06.000Z";
const talked = { start_time: "2026-11-22T03:59:24.000Z", end_time, duration: "42" };
const never = { start_time: null, end_time: null, duration: "0" };

describe("a notification becomes an event", () => {
  test.each<[status: string, type: string, data: object, fields?: object]>([
    ["started", "call.initiated", { start_time: at }],
    ["ringing", "call.ringing", {}],
    ["answered", "call.answered", { answer_time: at }, { start_time: null }],
    [
      "completed",
      "call.completed",
      { hangup_time: end_time, duration: 42, reason: "normal" },
      talked,
    ],
    [
      "completed",
      "call.completed",
      { hangup_time: at, duration: 0, reason: "normal" },
      { duration: "0", start_time: at },
    ],
    ["completed", "call.completed", { hangup_time: at, reason: "normal" }],
    [
      "completed",
      "call.completed",
      { hangup_time: at, reason: "normal", cost: "0.00834000" },
      { price: "0.00834000", rate: "0.05" },
    ],
    ["busy", "call.failed", { hangup_time: at, reason: "busy" }],
    ["timeout", "call.failed", { hangup_time: at, reason: "no_answer" }],
    ["unanswered", "call.failed", { hangup_time: at, reason: "no_answer" }],
    [
      "unanswered",
      "call.failed",
      { hangup_time: at, reason: "no_answer" },
      { detail: "carrier_timeout" },
    ],
    [
      "unanswered",
      "call.failed",
      { hangup_time: at, reason: "unreachable" },
      { detail: "unavailable" },
    ],
    ["rejected", "call.failed", { hangup_time: at, reason: "rejected" }],
    ["rejected", "call.failed", { hangup_time: at, reason: "rejected" }, { detail: "declined" }],
    [
      "rejected",
      "call.failed",
      { hangup_time: at, reason: "unreachable" },
      { detail: "invalid_number" },
    ],
    ["rejected", "call.failed", { hangup_time: at, reason: "rejected" }, { detail: "toString" }],
    [
      "failed",
      "call.failed",
      { hangup_time: at, reason: "unreachable" },
      { detail: "cannot_route" },
    ],
    ["cancelled", "call.failed", { hangup_time: at, reason: "canceled" }],
  ])("%s: %s with %j, from %j", (status, type, data, more = {}) => {
    const event = eventOf({ status, ...more });
    expect(event).toMatchObject({
      known: true,
      id: `${uuid}.${status}.${call.timestamp}`,
      type,
      occurred_at: at,
      account_id: applicationId,
      call_id: uuid,
      data: { ...numbers, ...data },
    });
    for (const name of [
      ...["reason", "duration", "hangup_time", "recording_url", "answered_by", "cost", "currency"],
    ]) {
      if (!(name in data)) expect(event.data).not.toHaveProperty(name);
    }
    expect(isFinal(event)).toBe(type === "call.completed" || type === "call.failed");
  });

  test("a duplicate has the same id, and another notification of the call another one", () => {
    expect(eventOf({ status: "ringing" })).toEqual(eventOf({ status: "ringing" }));
    const ids = [
      { status: "ringing" },
      { status: "ringing", timestamp: "2026-11-22T04:00:08Z" },
      { status: "ringing", uuid: "another" },
      { status: "answered" },
      { status: "machine" },
      { status: "machine", sub_state: "beep_start" },
      { uuid: undefined, recording_uuid: "r1", recording_url: "https://api.nexmo.com/r1" },
      { uuid: undefined, recording_uuid: "r2", recording_url: "https://api.nexmo.com/r2" },
      { type: "transfer" },
    ].map((fields) => eventOf(fields).id);
    expect(new Set(ids)).toHaveProperty("size", ids.length);
    expect(ids).not.toContain(undefined);
  });

  test.each([{}, { price: "0" }, { price: null }])(
    "the end of a call that was never answered is no second call.failed, as it has no reason",
    (more) => {
      const event = eventOf({ status: "completed", ...never, ...more });
      expect(event).toMatchObject({ known: false, type: "call.ended", call_id: uuid });
      expect(event.data).toMatchObject({ reason: undefined });
      expect(isFinal(event)).toBe(false);
    },
  );

  test("in one second the events have the order of a call", () => {
    const statuses = ["started", "ringing", "answered", "completed"];
    const events = statuses.map((status) => eventOf({ status }));
    expect([...events].reverse().sort(byOccurrence)).toEqual(events);
  });

  test("a field that is absent or of another type is left out", () => {
    const { data, ...stamp } = eventOf({
      status: "completed",
      timestamp: 7,
      duration: "1 min",
      from: null,
      to: undefined,
    });
    expect(stamp).not.toHaveProperty("occurred_at");
    expect(stamp.id).toBe(`${uuid}.completed`);
    for (const name of ["duration", "hangup_time", "from", "to"]) {
      expect(data).not.toHaveProperty(name);
    }
  });

  test("no field of Vonage's stands for one of ours", () => {
    const { data } = eventOf({
      status: "busy",
      reason: "normal",
      duration: 7,
      answered_by: "human",
    });
    expect(data).toMatchObject({ reason: "busy" });
    expect(data).not.toHaveProperty("duration");
    expect(data).not.toHaveProperty("answered_by");
    const text = JSON.stringify({ ...call, status: "busy" }).replace("{", '{"__proto__":{"a":1},');
    const proto = parse(CallEvent, application.decodeEvent(text));
    expect(Object.getPrototypeOf(proto.data)).toBe(Object.prototype);
  });
});

test("the error of an NCCO, which names the conversation alone, says that the flow failed, and why", () => {
  const reason = "Syntax error in NCCO. Invalid value type or action.";
  const error = { reason, conversation_uuid: "CON-1", timestamp: "2026-06-03T10:00:07.000Z" };
  expect(parse(CallEvent, application.decodeEvent(JSON.stringify(error)))).toMatchObject({
    known: false,
    type: "call.flow_error",
    call_id: null,
    data: { reason: "flow_error", flow_error: reason },
  });
});

test.each<[string, object, object]>([
  ["call.machine_detected", { status: "human" }, { answered_by: "human" }],
  ["call.machine_detected", { status: "machine" }, { answered_by: "machine_start" }],
  [
    "call.machine_detected",
    { status: "machine", sub_state: "beep_start" },
    { answered_by: "machine_end_beep", beep: true },
  ],
  [
    "call.machine_detected",
    { status: "machine", sub_state: "beep_timeout" },
    { answered_by: "machine_end_other", beep: true },
  ],
  ["call.disconnected", { status: "disconnected" }, {}],
  ["call.transfer", { type: "transfer" }, {}],
  ["call.toString", { status: "toString" }, {}],
  ["call.unknown", {}, {}],
  ["leg.completed", { status: "completed", to: "wss://app.test/media", ...talked }, {}],
  ["leg.busy", { status: "busy", to: "sip:bob@example.com" }, {}],
])("%s is no state of the call, from %j", (type, fields, data) => {
  const { uuid: call_uuid, ...others } = call;
  for (const id of [{ uuid }, { call_uuid }]) {
    const event = parse(
      CallEvent,
      application.decodeEvent(JSON.stringify({ ...others, ...id, ...fields })),
    );
    expect(event).toMatchObject({ known: type === "call.machine_detected", type, call_id: uuid });
    expect(event.data).toMatchObject({ from: "+12025550199", ...data });
  }
});

test("a recording tells of no call", () => {
  const recording_url = "https://api.nexmo.com/v1/files/r1";
  const recording = { uuid: undefined, recording_uuid: "r1", recording_url };
  expect(eventOf(recording)).toMatchObject({
    known: false,
    type: "recording.completed",
    call_id: null,
    data: { recording_url },
  });
});

test.each(["{}", "[]", '"x"', "null", '{"type":"call.ringing","call_id":"cs_1"}', '{"uuid":7}'])(
  "%s is neither a notification nor a flow request",
  (body) => {
    expect(application.decodeEvent(body)).toBeUndefined();
    expect(decodeFlow(body)).toBeUndefined();
  },
);

test("a body that is no JSON is thrown out by the parser", () => {
  expect(() => application.decodeEvent("uuid=1")).toThrow(SyntaxError);
  expect(() => decodeFlow("uuid=1")).toThrow(SyntaxError);
});

describe("a flow request has the call", () => {
  const request = {
    call_id: uuid,
    account_id: applicationId,
    from_number: numbers.from,
    to_number: numbers.to,
    direction: "outbound",
  };
  const flowOf = (body: object) => parse(FlowRequest, decodeFlow(JSON.stringify(body)));

  test("from an answer webhook, whose fields stay as they came", () => {
    const { direction, ...asked } = call;
    expect(flowOf({ ...asked, region_url: "https://api-us-3.vonage.com" })).toEqual({
      ...asked,
      region_url: "https://api-us-3.vonage.com",
      ...request,
    });
    expect(flowOf({ ...call, direction: "inbound" }).direction).toBe("inbound");
  });

  test("from the payload of a notify, in a body of its own or beside other fields", () => {
    const { from, to, conversation_uuid } = call;
    const payload = { uuid, from, to };
    expect(flowOf({ conversation_uuid, payload })).toMatchObject(request);
    expect(flowOf(payload)).toMatchObject(request);
  });

  test("a field of the body says nothing of a dial: only the status of a leg does", () => {
    const dialed = { state: "completed", reason: "normal" };
    expect(flowOf({ ...call, dialed }).dialed).toBeUndefined();
    expect(flowOf({ payload: { ...call, dialed } }).dialed).toBeUndefined();
  });

  test("without numbers they are empty: a call of an application has a user in their place", () => {
    const { to, from, ...asked } = call;
    expect(flowOf({ ...asked, from_user: "alice" })).toMatchObject({
      ...request,
      from_number: "",
      to_number: "",
      from_user: "alice",
    });
  });
});
