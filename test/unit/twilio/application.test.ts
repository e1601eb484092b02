import { parse } from "valibot";
import { describe, expect, test } from "vitest";
import {
  byOccurrence,
  CallEvent,
  isFinal,
  type UnknownEvent,
} from "../../../src/callbacks/event.ts";
import { applicationSide } from "../../../src/carriers/twilio/application.ts";
import { FlowRequest } from "../../../src/flows/request.ts";
import { accountSid } from "./service.ts";

const application = applicationSide({ accountSid });
const decodeFlow = (body: string) => application.decodeFlow(body, "https://app.test/flow");

const call = {
  AccountSid: "AC00000000000000000000000000000001",
  ApiVersion: "2010-04-01",
  CallSid: "CA00000000000000000000000000000002",
  CallbackSource: "call-progress-events",
  Called: "+12025550100",
  Caller: "+12025550199",
  Direction: "outbound-api",
  From: "+12025550199",
  To: "+12025550100",
  ToCity: "",
};

const form = (fields: Readonly<Record<string, string>>): string =>
  new URLSearchParams({ ...call, ...fields }).toString();

const eventOf = (fields: Readonly<Record<string, string>>): CallEvent | UnknownEvent =>
  parse(CallEvent, application.decodeEvent(form(fields)));

const Timestamp = "Sun, 22 Nov 2026 04:00:07 +0000";
const at = "2026-11-22T04:00:07.000Z";

describe("a notification becomes an event", () => {
  test.each<[CallStatus: string, type: string, data: object, fields?: Record<string, string>]>([
    ["initiated", "call.initiated", { start_time: at }],
    ["ringing", "call.ringing", {}],
    ["in-progress", "call.answered", { answer_time: at }],
    [
      "in-progress",
      "call.answered",
      { answer_time: at, answered_by: "machine_end_beep" },
      { AnsweredBy: "machine_end_beep" },
    ],
    [
      "completed",
      "call.completed",
      {
        hangup_time: at,
        duration: 42,
        recording_url: "https://api.twilio.com/R",
        answered_by: "human",
      },
      { CallDuration: "42", RecordingUrl: "https://api.twilio.com/R", AnsweredBy: "human" },
    ],
    ["busy", "call.failed", { hangup_time: at, reason: "busy" }, { CallDuration: "0" }],
    ["canceled", "call.failed", { hangup_time: at, reason: "canceled" }],
    ["no-answer", "call.failed", { hangup_time: at, reason: "no_answer" }],
    [
      "no-answer",
      "call.failed",
      { hangup_time: at, reason: "no_answer" },
      { SipResponseCode: "487" },
    ],
    [
      "no-answer",
      "call.failed",
      { hangup_time: at, reason: "rejected" },
      { SipResponseCode: "603" },
    ],
    ["busy", "call.failed", { hangup_time: at, reason: "busy" }, { SipResponseCode: "603" }],
    ["failed", "call.failed", { hangup_time: at, reason: "unreachable" }],
  ])("%s: %s with %j", (CallStatus, type, data, more = {}) => {
    const fields = { CallStatus, Timestamp, SequenceNumber: "2", ...more };
    const event = eventOf(fields);
    const { CallSid, AccountSid, From, To } = call;
    expect(event).toEqual({
      known: true,
      id: `${CallSid}.2`,
      type,
      api_version: "2010-04-01",
      occurred_at: at,
      account_id: AccountSid,
      call_id: CallSid,
      data: { ...call, ...fields, from: From, to: To, ...data },
    });
    expect(isFinal(event)).toBe(["call.completed", "call.failed"].includes(type));
  });

  test("a duplicate has the same id, and another notification of the call another one", () => {
    const ringing = { CallStatus: "ringing", SequenceNumber: "1" };
    expect(eventOf({ ...ringing, Timestamp }).id).toBe(eventOf(ringing).id);
    const ids = [
      eventOf(ringing),
      eventOf({ CallStatus: "in-progress", SequenceNumber: "2" }),
      eventOf({ CallStatus: "ringing" }),
      eventOf({ CallStatus: "completed" }),
      eventOf({ RecordingStatus: "completed", RecordingSid: "RE1" }),
      eventOf({ RecordingStatus: "completed", RecordingSid: "RE2" }),
      eventOf({ RecordingStatus: "in-progress", RecordingSid: "RE2" }),
      eventOf({ AnsweredBy: "human" }),
    ].map(({ id }) => id);
    expect(new Set(ids)).toHaveProperty("size", ids.length);
  });

  test("in one second the events have the order of a call", () => {
    const statuses = ["initiated", "ringing", "in-progress", "completed"];
    const events = statuses.map((CallStatus) => eventOf({ CallStatus, Timestamp }));
    expect([...events].reverse().sort(byOccurrence)).toEqual(events);
  });

  test("a field that is absent or no number is left out", () => {
    const { data, ...stamp } = eventOf({ CallStatus: "completed", CallDuration: "1 min" });
    expect(stamp).not.toHaveProperty("occurred_at");
    for (const name of ["duration", "hangup_time", "recording_url", "reason", "answered_by"]) {
      expect(data).not.toHaveProperty(name);
    }
    expect(eventOf({ CallStatus: "ringing", Timestamp: "soon" })).not.toHaveProperty("occurred_at");
  });

  test("no field of the form stands for one of ours", () => {
    const fields = { CallStatus: "busy", reason: "normal", duration: "7", answered_by: "human" };
    expect(eventOf(fields).data).toEqual({
      ...call,
      CallStatus: "busy",
      from: call.From,
      to: call.To,
      reason: "busy",
    });
    expect(eventOf({ ...fields, start_time: "x" }).data).not.toHaveProperty("start_time");
    expect(decodeFlow(form({ answered_by: "human" }))).not.toHaveProperty("answered_by");
    const proto = eventOf({ CallStatus: "busy", ["__proto__"]: "x", constructor: "x" });
    expect(Object.getPrototypeOf(proto.data)).toBe(Object.prototype);
  });
});

test.each<[string, Record<string, string>, object]>([
  ["call.queued", { CallStatus: "queued" }, {}],
  ["call.toString", { CallStatus: "toString" }, {}],
  [
    "recording.completed",
    { RecordingStatus: "completed", RecordingSid: "RE1", RecordingUrl: "https://api.twilio.com/R" },
    { recording_url: "https://api.twilio.com/R" },
  ],
  ["recording.absent", { RecordingStatus: "absent", CallStatus: "completed" }, {}],
  ["call.machine_detected", { AnsweredBy: "fax" }, { answered_by: "fax" }],
  ["call.machine_detected", { AnsweredBy: "machine" }, { answered_by: "machine_start" }],
  ["unknown", { TranscriptionEvent: "transcription-started" }, {}],
])("%s is no state of the call, with all that came", (type, fields, data) => {
  const event = eventOf(fields);
  expect(event).toMatchObject({
    known: type === "call.machine_detected",
    type,
    call_id: call.CallSid,
  });
  expect(event.data).toMatchObject({ ...call, ...fields, ...data });
});

test("a notification about no call has no call_id", () => {
  const fields = { AccountSid: call.AccountSid, CallStatus: "busy" };
  const event = application.decodeEvent(new URLSearchParams(fields).toString());
  expect(parse(CallEvent, event)).toMatchObject({
    known: false,
    type: "call.failed",
    call_id: null,
  });
});

test.each(["", "{}", '{"type":"call.ringing"}', "CallStatus=busy", "accountSid=AC1", "<xml/>"])(
  "%j is neither a notification nor a flow request",
  (body) => {
    expect(application.decodeEvent(body)).toBeUndefined();
    expect(decodeFlow(body)).toBeUndefined();
  },
);

test("a flow request has the call, and the fields as they came", () => {
  const fields = { CallStatus: "in-progress", Digits: "5" };
  const request = {
    call_id: call.CallSid,
    account_id: call.AccountSid,
    from_number: call.From,
    to_number: call.To,
    direction: "outbound",
  };
  expect(parse(FlowRequest, decodeFlow(form(fields)))).toEqual({
    ...call,
    ...fields,
    ...request,
    digits: "5",
  });
  expect(decodeFlow(form({ AnsweredBy: "human" }))).toMatchObject({
    ...request,
    answered_by: "human",
  });
  for (const direction of ["outbound-dial", "inbound"]) {
    expect(decodeFlow(form({ Direction: direction }))).toMatchObject({
      direction: direction.replace("-dial", ""),
    });
  }
});
