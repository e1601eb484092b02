import { TelnyxWebhook } from "telnyx/lib/webhooks";
import { describe, expect, it } from "vitest";
import type { EmulatorOptions } from "../../src/emulator/index.ts";
import {
  type Answers,
  answering,
  applicationId,
  from,
  isAccepted,
  place,
  startApplication,
  startTelnyx,
} from "./stage.ts";

const Texml = "<Response><Pause length='3'/></Response>";
const everyEvent = "initiated ringing answered completed";
const machine: EmulatorOptions = { onCall: () => ({ outcome: "answer", answeredBy: "machine" }) };

/** A call to the end, and what came to `/status`, `/recording` and `/amd`. */
const called = async (
  fields: Readonly<Record<string, unknown>> = {},
  {
    to = answering,
    answers = {},
    ...options
  }: EmulatorOptions & { to?: string; answers?: Answers } = {},
) => {
  const application = await startApplication(answers);
  const { emulator, client } = await startTelnyx(options);
  const call = {
    To: to,
    Texml,
    StatusCallback: "/status",
    StatusCallbackEvent: everyEvent,
    ...fields,
  };
  const resolved = Object.entries(call).map(([name, value]) => [
    name,
    typeof value === "string" ? value.replace(/^\//, `${application.origin}/`) : value,
  ]);
  const sid = await place(client, Object.fromEntries(resolved));
  return { ...application, client, emulator, call: await emulator.ended(sid) };
};

/** The outcomes of all attempts to deliver notifications. */
const outcomesOf = ({ history }: Awaited<ReturnType<typeof called>>["call"]) =>
  history.flatMap((entry) => (entry.type === "notification" ? [entry.outcome] : []));

describe("status callbacks, each of which Telnyx's own verifier accepts", () => {
  it("have the events of a call in order, with all that Telnyx documents", async () => {
    const { at, call } = await called();
    const { id, initiated_at, answered_at = 0, ended_at = 0 } = call;
    const iso = (time: number) => new Date(time).toISOString();
    const times = [initiated_at, initiated_at, answered_at, ended_at];
    expect(at("/status")).toEqual(
      ["initiated", "ringing", "in-progress", "completed"].map((CallStatus, index) => ({
        AccountSid: expect.stringMatching(/^[\da-f-]{36}$/),
        CallSid: id,
        CallSidLegacy: id,
        CallStatus,
        CallbackSource: "call-progress-events",
        CallInitiatedAt: iso(initiated_at),
        CallerId: from,
        ConnectionId: applicationId,
        From: from,
        SequenceNumber: String(index),
        Timestamp: iso(times[index] ?? 0),
        To: answering,
        ...(index === 3 && {
          CallControlId: id,
          CallSessionId: expect.stringMatching(/^[\da-f-]{36}$/),
          CallDuration: "3",
          StartTime: iso(initiated_at),
          AnsweredTime: iso(answered_at),
          EndTime: iso(ended_at),
          HangupCause: "normal_clearing",
          HangupSource: "caller",
          SipHangupCause: "200",
        }),
      })),
    );
  });

  it.each([
    ["+12025550101", "busy", "user_busy", "callee", "486"],
    ["+12025550102", "no-answer", "timeout", "caller", "487"],
    ["+12025550103", "failed", "call_rejected", "callee", "603"],
    ["+12025550104", "failed", "not_found", "callee", "404"],
    ["+12025550105", "completed", "normal_clearing", "callee", "200"],
  ])("say how a call to %s ended: %s, %s by the %s, SIP %s", async (to, ...words) => {
    const [CallStatus, HangupCause, HangupSource, SipHangupCause] = words;
    const { at } = await called({}, { to });
    const last = { CallStatus, HangupCause, HangupSource, SipHangupCause };
    expect(at("/status").at(-1)).toMatchObject(last);
  });

  it("say that the limit of a call was reached", async () => {
    const long = "<Response><Pause length='180'/></Response>";
    const { at } = await called({ Texml: long, TimeLimit: 30 });
    expect(at("/status").at(-1)).toMatchObject({
      CallStatus: "completed",
      HangupCause: "time_limit",
      HangupSource: "caller",
      CallDuration: "30",
    });
  });

  it("are those that StatusCallbackEvent names; the last one if it names none", async () => {
    const statuses = async (StatusCallbackEvent: string) =>
      (await called({ StatusCallbackEvent })).at("/status").map((one) => one.CallStatus);
    expect(await statuses("")).toEqual(["completed"]);
    expect(await statuses("answered initiated")).toEqual(["initiated", "in-progress"]);
  });

  it("come by GET with the same fields in the query", async () => {
    const { received } = await called({
      StatusCallback: "/status?mine=1",
      StatusCallbackMethod: "GET",
    });
    expect(received).toHaveLength(4);
    const fields = { mine: "1", CallStatus: "completed" };
    expect(received[3]).toMatchObject({ method: "GET", fields });
  });

  it.each([
    [500, ["retrying", "retrying", "given_up"]],
    [429, ["retrying", "retrying", "given_up"]],
    [408, ["retrying", "retrying", "given_up"]],
    [404, ["given_up"]],
  ])("that are answered %i: %j", async (status, outcomes) => {
    const options = { answers: { "/status": status } };
    const { call, at } = await called({ StatusCallbackEvent: "completed" }, options);
    expect(outcomesOf(call)).toEqual(outcomes);
    expect(new Set(at("/status").map(({ SequenceNumber }) => SequenceNumber))).toEqual(
      new Set(["0"]),
    );
  });

  it("are sent again where no connection was made", async () => {
    const { emulator, client } = await startTelnyx({
      fetch: () => {
        throw new TypeError("connection refused");
      },
    });
    const sid = await place(client, { Texml, StatusCallback: "https://app.example/" });
    expect(outcomesOf(await emulator.ended(sid))).toEqual(["retrying", "retrying", "given_up"]);
  });

  it("have the faults of the option notifications", async () => {
    const { at } = await called({}, { notifications: { doubled: 1 }, seed: 1 });
    const numbers = at("/status").map(({ SequenceNumber }) => SequenceNumber);
    expect(numbers.sort()).toEqual(["0", "0", "1", "1", "2", "2", "3", "3"]);
  });

  it("are in the history as they went, and verified by the key that the emulator shows", async () => {
    const { call, emulator } = await called({ StatusCallbackEvent: "completed" });
    const entry = call.history.find(({ type }) => type === "notification");
    if (entry?.type !== "notification") throw new Error("none");
    const { headers, body } = entry.request;
    const own = new TelnyxWebhook(emulator.webhookSecret);
    const another = new TelnyxWebhook(new Uint8Array(32).fill(1));
    expect(headers["User-Agent"]).toBe("telnyx-webhooks");
    expect(await isAccepted(own, body, { ...headers })).toBe(true);
    expect(await isAccepted(own, `${body}&To=1`, { ...headers })).toBe(false);
    expect(await isAccepted(another, body, { ...headers })).toBe(false);
  });
});

describe("recordings", () => {
  it("are in the last event and in RecordingStatusCallback, and can be listed and fetched", async () => {
    const { at, call, client } = await called({
      Record: true,
      RecordingStatusCallback: "/recording",
      RecordingStatusCallbackEvent: "in-progress completed",
    });
    const [started, completed] = at("/recording");
    expect(started).toMatchObject({ RecordingStatus: "in-progress", CallSid: call.id });
    expect(completed).toMatchObject({ RecordingStatus: "completed", RecordingDuration: "3" });
    expect(started?.RecordingSid).toBe(completed?.RecordingSid);
    const { RecordingUrl = "" } = at("/status").at(-1) ?? {};
    expect(RecordingUrl).toBe(completed?.RecordingUrl);
    const response = await fetch(RecordingUrl);
    expect((await response.arrayBuffer()).byteLength).toBe(44 + 3 * 16_000);
    const { recordingsJson } = client.texml.accounts.calls;
    const listed = await recordingsJson.retrieveRecordingsJson(call.id, { account_sid: "any" });
    expect(listed.recordings).toMatchObject([
      { call_sid: call.id, duration: "3", media_url: RecordingUrl },
    ]);
  });

  it("are none unless Record is true, and absent where nobody answered", async () => {
    const none = await called({ RecordingStatusCallback: "/recording" });
    expect(none.at("/recording")).toEqual([]);
    expect(none.at("/status").at(-1)).not.toHaveProperty("RecordingUrl");
    const fields = {
      Record: true,
      RecordingStatusCallback: "/recording",
      RecordingStatusCallbackEvent: "absent",
    };
    const { at } = await called(fields, { to: "+12025550101" });
    expect(at("/recording")).toMatchObject([{ RecordingStatus: "absent" }]);
  });
});

describe("the detection of answering machines", () => {
  it.each([
    ["human", {}],
    ["machine", machine],
  ])("%s: StatusCallback has it, before the document is requested", async (AnsweredBy, who) => {
    const { received, at, call } = await called(
      { MachineDetection: "Enable", Url: "/voice" },
      { ...who, answers: { "/voice": Texml } },
    );
    expect(received.map(({ path, fields }) => [path, fields.AnsweredBy])).toEqual(
      expect.arrayContaining([
        ["/status", AnsweredBy],
        ["/voice", AnsweredBy],
      ]),
    );
    const durations = at("/status").flatMap((one) => one.MachineDetectionDuration ?? []);
    expect(durations).toEqual(["2000"]);
    expect(call.duration).toBe(5);
  });

  it("AsyncAmd: the flow runs at once, and the result comes to its own callback", async () => {
    const { at, call } = await called(
      {
        MachineDetection: "Enable",
        AsyncAmd: true,
        AsyncAmdStatusCallback: "/amd",
        Url: "/voice",
      },
      { ...machine, answers: { "/voice": Texml } },
    );
    expect(at("/voice")[0]).not.toHaveProperty("AnsweredBy");
    expect(at("/amd")).toMatchObject([{ AnsweredBy: "machine", MachineDetectionDuration: "2000" }]);
    expect(call.duration).toBe(3);
  });
});
