import { describe, expect, it } from "vitest";
import {
  type CallFields,
  type CallOptions,
  called as calledWith,
  machine,
  notificationOf,
  outcomesOf,
} from "../carriers/markup.ts";
import { carrier, clientFor, place, startTelnyx } from "./stage.ts";

const Texml = "<Response><Pause length='3'/></Response>";

/** A call to the end, and what came to `/status` and `/recording`. */
const called = (fields: CallFields, options: CallOptions = {}) => {
  const StatusCallbackEvent = ["initiated", "ringing", "answered", "completed"];
  const call = { document: Texml, StatusCallback: "/status", StatusCallbackEvent };
  return calledWith(carrier, { ...call, ...fields }, options);
};

describe("status callbacks", () => {
  it("say that the limit of a call was reached", async () => {
    const long = "<Response><Pause length='180'/></Response>";
    const { at } = await called({ document: long, TimeLimit: 30 });
    expect(at("/status").at(-1)).toMatchObject({
      CallStatus: "completed",
      HangupCause: "time_limit",
      HangupSource: "caller",
      CallDuration: "30",
    });
  });

  it.each([
    [500, ["retrying", "retrying", "given_up"]],
    [429, ["retrying", "retrying", "given_up"]],
    [408, ["retrying", "retrying", "given_up"]],
    [404, ["given_up"]],
  ])("that are answered %i: %j", async (status, outcomes) => {
    const options = { answers: { "/status": status } };
    const { call, at } = await called({ StatusCallbackEvent: ["completed"] }, options);
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

  it("name Telnyx's own program", async () => {
    const { call } = await called({ StatusCallbackEvent: ["completed"] });
    expect(notificationOf(call).request.headers["User-Agent"]).toBe("telnyx-webhooks");
  });
});

it("a recording can be listed", async () => {
  const { at, call, baseUrl } = await called({ Record: true });
  const { RecordingUrl: media_url } = at("/status").at(-1) ?? {};
  const { recordingsJson } = clientFor(baseUrl).texml.accounts.calls;
  const listed = await recordingsJson.retrieveRecordingsJson(call.id, {
    account_sid: "f5586561-8ff0-4291-a51b-c7dfe4139ff9",
  });
  expect(listed.recordings).toMatchObject([{ call_sid: call.id, duration: "3", media_url }]);
});

describe("the detection of answering machines", () => {
  it.each([
    ["human", {}],
    ["machine", machine],
  ])("%s: StatusCallback has it, before the document is requested", async (AnsweredBy, who) => {
    const { received, at, call } = await called(
      { MachineDetection: "Enable", document: undefined, Url: "/voice" },
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
});
