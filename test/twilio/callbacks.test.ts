import twilio from "twilio";
import { describe, expect, it } from "vitest";
import type { EmulatorOptions } from "../../src/emulator/index.ts";
import {
  type Answers,
  accountSid,
  answering,
  authToken,
  from,
  startApplication,
  startTwilio,
} from "./stage.ts";

const twiml = "<Response><Pause length='3'/></Response>";
const everyEvent = ["initiated", "ringing", "answered", "completed"];

/** A call to the end, and what came to `/status`, `/recording` and `/amd`. */
const called = async (
  fields: object = {},
  {
    to = answering,
    answers = {},
    ...options
  }: EmulatorOptions & { to?: string; answers?: Answers } = {},
) => {
  const application = await startApplication(answers);
  const { emulator, client } = await startTwilio(options);
  const statusCallback = `${application.origin}/status`;
  const call = { from, to, twiml, statusCallback, statusCallbackEvent: everyEvent, ...fields };
  const resolved = Object.fromEntries(
    Object.entries(call).map(([name, value]) => [
      name,
      typeof value === "string" ? value.replace(/^\//, `${application.origin}/`) : value,
    ]),
  );
  const { sid } = await client.calls.create({ from, to, twiml, ...resolved });
  return { ...application, client, emulator, call: await emulator.ended(sid) };
};

describe("status callbacks, each of which twilio.webhook() takes", () => {
  it("tell the events of a call in order, with all that Twilio documents", async () => {
    const { at, call } = await called();
    const times = [call.initiated_at, call.initiated_at, call.answered_at ?? 0, call.ended_at ?? 0];
    const statuses = ["initiated", "ringing", "in-progress", "completed"];
    expect(at("/status")).toEqual(
      statuses.map((CallStatus, index) => ({
        AccountSid: accountSid,
        ApiVersion: "2010-04-01",
        CallSid: call.id,
        CallStatus,
        CallbackSource: "call-progress-events",
        Called: answering,
        Caller: from,
        Direction: "outbound-api",
        From: from,
        SequenceNumber: String(index),
        Timestamp: new Date(times[index] ?? 0).toUTCString().replace("GMT", "+0000"),
        To: answering,
        ...(index === 3 && { CallDuration: "3", Duration: "1", SipResponseCode: "200" }),
      })),
    );
  });

  it.each([
    ["+12025550101", "busy", "486"],
    ["+12025550102", "no-answer", "487"],
    ["+12025550103", "no-answer", "603"],
    ["+12025550104", "failed", "404"],
  ])("tell how a call to %s ended: %s, SIP %s", async (to, CallStatus, SipResponseCode) => {
    const { at } = await called({}, { to });
    expect(at("/status").at(-1)).toMatchObject({ CallStatus, SipResponseCode, CallDuration: "0" });
  });

  it("are those that StatusCallbackEvent names; the last one if it names none", async () => {
    const events = async (statusCallbackEvent: readonly string[]) =>
      (await called({ statusCallbackEvent }))
        .at("/status")
        .map((one) => [one.CallStatus, one.SequenceNumber]);
    expect(await events([])).toEqual([["completed", "0"]]);
    expect(await events(["answered", "initiated"])).toEqual([
      ["initiated", "0"],
      ["in-progress", "1"],
    ]);
  });

  it("are none for a call that is canceled before it rings", async () => {
    const application = await startApplication();
    const { emulator, client } = await startTwilio({ onCall: () => new Promise(() => {}) });
    const statusCallback = `${application.origin}/status`;
    const { sid } = await client.calls.create({
      from,
      to: answering,
      twiml,
      statusCallback,
      statusCallbackEvent: ["completed"],
    });
    await client.calls(sid).update({ status: "canceled" });
    await emulator.ended(sid);
    expect(application.received).toEqual([]);
    expect((await client.calls(sid).fetch()).status).toBe("canceled");
  });

  it("come by GET with the same fields in the query", async () => {
    const { received } = await called({
      statusCallback: "/status?mine=1",
      statusCallbackMethod: "GET",
    });
    expect(received).toHaveLength(4);
    expect(received[3]).toMatchObject({
      method: "GET",
      fields: { mine: "1", CallStatus: "completed" },
    });
  });

  it("are repeated as the fragment of the URL says, with the same token, and only so", async () => {
    const tries = async (fragment: string) => {
      const tokens = new Map<unknown, number>();
      const { call } = await called(
        { statusCallback: `/status${fragment}`, statusCallbackEvent: ["completed"] },
        {
          answers: {
            "/status": (request, response) => {
              const token = request.headers["i-twilio-idempotency-token"];
              tokens.set(token, (tokens.get(token) ?? 0) + 1);
              response.status(503).send("");
            },
          },
        },
      );
      const outcomes = call.history.flatMap((entry) =>
        entry.type === "notification" ? [entry.outcome] : [],
      );
      expect(outcomes).toHaveLength([...tokens.values()].reduce((sum, count) => sum + count, 0));
      expect(outcomes.at(-1)).toBe("given_up");
      return [...tokens.values()];
    };
    expect(await tries("")).toEqual([1]);
    expect(await tries("#rc=2&rp=5xx")).toEqual([3]);
    expect(await tries("#rc=2&rp=ct,rt")).toEqual([1]);
  });

  it("are repeated once where no connection was made, unless the fragment says otherwise", async () => {
    const tries = async (fragment: string) => {
      const { emulator, client } = await startTwilio({
        fetch: () => {
          throw new TypeError("connection refused");
        },
      });
      const { sid } = await client.calls.create({
        from,
        to: answering,
        twiml,
        statusCallback: `https://app.example/${fragment}`,
      });
      const { history } = await emulator.ended(sid);
      return history.filter(({ type }) => type === "notification").length;
    };
    expect(await tries("")).toBe(2);
    expect(await tries("#rc=0")).toBe(1);
    expect(await tries("#rc=5&rp=5xx")).toBe(1);
  });

  it("have the faults of the option notifications", async () => {
    const { at } = await called({}, { notifications: { doubled: 1 }, seed: 1 });
    const numbers = at("/status").map(({ SequenceNumber }) => SequenceNumber);
    expect(numbers.sort()).toEqual(["0", "0", "1", "1", "2", "2", "3", "3"]);
  });

  it("are in the history as they went", async () => {
    const { call } = await called({ statusCallbackEvent: ["completed"] });
    const entry = call.history.find(({ type }) => type === "notification");
    if (entry?.type !== "notification") throw new Error("none");
    const { url, headers, body } = entry.request;
    const signature = headers["X-Twilio-Signature"] ?? "";
    const fields = Object.fromEntries(new URLSearchParams(body));
    expect(twilio.validateRequest(authToken, signature, url, fields)).toBe(true);
    expect(twilio.validateRequest("another", signature, url, fields)).toBe(false);
  });

  it.each([
    "https://example.com/myapp.php?foo=1&bar=2",
    "https://example.com:8443/status?a=%20b+c&d=%C3%A3",
    "https://example.com",
    "http://127.0.0.1:3000/status/",
  ])("are signed over the public URL %s as Twilio's own client verifies it", async (url) => {
    const { emulator, client } = await startTwilio({ fetch: () => new Response() });
    const { sid } = await client.calls.create({
      from,
      to: answering,
      twiml,
      statusCallback: `${url}#rc=2`,
    });
    const { history } = await emulator.ended(sid);
    const entry = history.find(({ type }) => type === "notification");
    if (entry?.type !== "notification") throw new Error("none");
    const signature = entry.request.headers["X-Twilio-Signature"] ?? "";
    const fields = Object.fromEntries(new URLSearchParams(entry.request.body));
    expect(twilio.validateRequest(authToken, signature, url, fields)).toBe(true);
  });
});

describe("recordings", () => {
  it("are told at the end and to RecordingStatusCallback, and can be fetched", async () => {
    const { at, call, client } = await called({
      record: true,
      recordingStatusCallback: "/recording",
      recordingStatusCallbackEvent: ["in-progress", "completed"],
    });
    const [started, completed] = at("/recording");
    const RecordingSid = `RE${call.id.slice(2)}`;
    expect(started).toMatchObject({
      RecordingSid,
      RecordingStatus: "in-progress",
      CallSid: call.id,
    });
    expect(completed).toMatchObject({
      RecordingSid,
      RecordingStatus: "completed",
      RecordingDuration: "3",
      RecordingSource: "OutboundAPI",
    });
    const { RecordingUrl = "" } = at("/status").at(-1) ?? {};
    expect(RecordingUrl).toBe(completed?.RecordingUrl);
    expect(client.api.baseUrl).toBe(new URL(RecordingUrl).origin);
    for (const url of [RecordingUrl, `${RecordingUrl}.wav`]) {
      const response = await fetch(url);
      expect(response.headers.get("content-type")).toBe("audio/wav");
      expect((await response.arrayBuffer()).byteLength).toBe(44 + 3 * 16_000);
    }
  });

  it("are none unless Record is true, and absent where nobody answered", async () => {
    const none = await called({ recordingStatusCallback: "/recording" });
    expect(none.at("/recording")).toEqual([]);
    expect(none.at("/status").at(-1)).not.toHaveProperty("RecordingUrl");
    const unanswered = await called(
      {
        record: true,
        recordingStatusCallback: "/recording",
        recordingStatusCallbackEvent: ["absent"],
      },
      { to: "+12025550101" },
    );
    expect(unanswered.at("/recording")).toMatchObject([{ RecordingStatus: "absent" }]);
  });
});

describe("the detection of answering machines", () => {
  const machine: EmulatorOptions = {
    onCall: () => ({ outcome: "answer", answeredBy: "machine" }),
  };

  it.each([
    ["Enable", "human"],
    ["Enable", "machine_start"],
    ["DetectMessageEnd", "machine_end_beep"],
  ] as const)(
    "%s: the flow is asked once it is decided that it is %s",
    async (machineDetection, AnsweredBy) => {
      const { at, client, call } = await called(
        { machineDetection, url: "/voice" },
        { ...(AnsweredBy !== "human" && machine), answers: { "/voice": twiml } },
      );
      expect(at("/voice")).toMatchObject([{ AnsweredBy }]);
      expect(at("/status").map((one) => one.AnsweredBy)).toEqual([
        undefined,
        undefined,
        undefined,
        AnsweredBy,
      ]);
      expect((await client.calls(call.id).fetch()).answeredBy).toBe(AnsweredBy);
      expect(call.duration).toBe(5);
    },
  );

  it("AsyncAmd: the flow runs at once, and the result comes to its own callback", async () => {
    const { at, call } = await called(
      {
        machineDetection: "Enable",
        asyncAmd: "true",
        asyncAmdStatusCallback: "/amd",
        url: "/voice",
      },
      { ...machine, answers: { "/voice": twiml } },
    );
    expect(at("/voice")[0]).not.toHaveProperty("AnsweredBy");
    expect(at("/amd")).toEqual([
      {
        AccountSid: accountSid,
        AnsweredBy: "machine_start",
        CallSid: call.id,
        MachineDetectionDuration: "2000",
      },
    ]);
    expect(call.duration).toBe(3);
  });
});
