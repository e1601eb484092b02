import { parse } from "valibot";
import { describe, expect, test } from "vitest";
import { CallEvent, isFinal, type UnknownEvent } from "../../../src/callbacks/event.ts";
import { applicationSide } from "../../../src/carriers/telnyx/application.ts";
import { FlowRequest } from "../../../src/flows/request.ts";

const application = applicationSide({});
const decodeFlow = (body: string) => application.decodeFlow(body, "https://app.test/flow");

/** What Telnyx's page of the webhook shows. */
const call = {
  AccountSid: "f5586561-8ff0-4291-a51b-c7dfe4139ff9",
  CallInitiatedAt: "2024-01-15T10:30:26.028Z",
  CallSid: "v3:9X2vxPDFY2RHSJ1EdMS0RHRksMTg7ldNxdjWbVr9zBjbGjGsSe-aiQ",
  CallSidLegacy: "v3:9X2vxPDFY2RHSJ1EdMS0RHRksMTg7ldNxdjWbVr9zBjbGjGsSe-aiQ",
  CallbackSource: "call-progress-events",
  ConnectionId: "1234567890",
  From: "+35319605860",
  To: "+13129457420",
};

const form = (fields: Readonly<Record<string, string>>): string =>
  new URLSearchParams({ ...call, ...fields }).toString();

const eventOf = (fields: Readonly<Record<string, string>>): CallEvent | UnknownEvent =>
  parse(CallEvent, application.decodeEvent(form(fields)));

const Timestamp = "2024-01-15T10:30:07Z";
const at = "2024-01-15T10:30:07.000Z";

describe("a notification becomes an event", () => {
  test.each<[CallStatus: string, type: string, data: object, fields?: Record<string, string>]>([
    ["initiated", "call.initiated", { start_time: at }],
    ["ringing", "call.ringing", {}],
    ["in-progress", "call.answered", { answer_time: at }, { CallDuration: "15" }],
    [
      "in-progress",
      "call.answered",
      { answer_time: at, answered_by: "machine_start" },
      { AnsweredBy: "machine" },
    ],
    [
      "in-progress",
      "call.answered",
      { answer_time: at, answered_by: "human" },
      { AnsweredBy: "human" },
    ],
    [
      "in-progress",
      "call.answered",
      { answer_time: at, answered_by: "unknown" },
      { AnsweredBy: "not_sure" },
    ],
    [
      "completed",
      "call.completed",
      {
        hangup_time: at,
        duration: 45,
        reason: "normal",
        recording_url: "https://api.telnyx.com/R",
      },
      {
        CallDuration: "45",
        HangupCause: "normal_clearing",
        HangupSource: "caller",
        RecordingUrl: "https://api.telnyx.com/R",
      },
    ],
    [
      "completed",
      "call.completed",
      { hangup_time: at, reason: "max_duration" },
      { HangupCause: "time_limit" },
    ],
    ["completed", "call.completed", { hangup_time: at }, { HangupCause: "unspecified" }],
    ["busy", "call.failed", { hangup_time: at, reason: "busy" }, { HangupCause: "user_busy" }],
    [
      "no-answer",
      "call.failed",
      { hangup_time: at, reason: "no_answer" },
      { HangupCause: "timeout" },
    ],
    ["canceled", "call.failed", { hangup_time: at, reason: "canceled" }],
    [
      "failed",
      "call.failed",
      { hangup_time: at, reason: "rejected" },
      { HangupCause: "call_rejected" },
    ],
    [
      "failed",
      "call.failed",
      { hangup_time: at, reason: "unreachable" },
      { HangupCause: "not_found" },
    ],
    ["failed", "call.failed", { hangup_time: at, reason: "unreachable" }],
  ])("%s: %s with %j", (CallStatus, type, data, more = {}) => {
    const fields = { CallStatus, Timestamp, SequenceNumber: "3", ...more };
    const event = eventOf(fields);
    const { CallSid, AccountSid, From, To } = call;
    expect(event).toEqual({
      known: true,
      id: `${CallSid}.3`,
      type,
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
      eventOf({ CallStatus: "completed" }),
      eventOf({ RecordingStatus: "completed", RecordingSid: "1" }),
      eventOf({ RecordingStatus: "completed", RecordingSid: "2" }),
    ].map(({ id }) => id);
    expect(new Set(ids)).toHaveProperty("size", ids.length);
  });
});

test.each<[string, Record<string, string>, object]>([
  ["call.analyzed", { CallStatus: "analyzed" }, {}],
  ["recording.completed", { RecordingStatus: "completed", RecordingSid: "1" }, {}],
  ["call.machine_detected", { AnsweredBy: "machine" }, { answered_by: "machine_start" }],
  ["unknown", { StreamEvent: "stream-started" }, {}],
])("%s is no state of the call, with all that came", (type, fields, data) => {
  const event = eventOf(fields);
  expect(event).toMatchObject({
    known: type === "call.machine_detected",
    type,
    call_id: call.CallSid,
  });
  expect(event.data).toMatchObject({ ...call, ...fields, ...data });
});

test.each(["", "{}", '{"data":{"event_type":"call.hangup"}}', "CallStatus=busy", "<xml/>"])(
  "%j is neither a notification nor a flow request",
  (body) => {
    expect(application.decodeEvent(body)).toBeUndefined();
    expect(decodeFlow(body)).toBeUndefined();
  },
);

test("a flow request has the call, and the fields as they came", () => {
  const { CallbackSource, ...others } = call;
  const fields = { CallStatus: "in-progress", CallerId: "+35319605860", AnsweredBy: "machine" };
  const body = new URLSearchParams({ ...others, ...fields }).toString();
  expect(parse(FlowRequest, decodeFlow(body))).toEqual({
    ...others,
    ...fields,
    call_id: call.CallSid,
    account_id: call.AccountSid,
    from_number: call.From,
    to_number: call.To,
    direction: "outbound",
    answered_by: "machine_start",
  });
  expect(decodeFlow(`${body}&Direction=inbound`)).toMatchObject({ direction: "inbound" });
  // Telnyx's signature covers no URL: a notification may be sent to the flow by whoever has captured it.
  expect(decodeFlow(`${body}&CallbackSource=${CallbackSource}`)).toBeUndefined();
});
