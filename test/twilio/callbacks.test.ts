import { describe, expect, it } from "vitest";
import {
  type CallFields,
  type CallOptions,
  called as calledWith,
  machine,
  notificationOf,
  outcomesOf,
} from "../carriers/markup.ts";
import { answering, from } from "../carriers/stage.ts";
import {
  accountSid,
  carrier,
  clientFor,
  isSigned,
  startApplication,
  startTwilio,
} from "./stage.ts";

const twiml = "<Response><Pause length='3'/></Response>";

/** A call to the end, and what came to `/status`, `/recording` and `/amd`. */
const called = (fields: CallFields, options: CallOptions = {}) => {
  const StatusCallbackEvent = ["initiated", "ringing", "answered", "completed"];
  const call = { document: twiml, StatusCallback: "/status", StatusCallbackEvent };
  return calledWith(carrier, { ...call, ...fields }, options);
};

describe("status callbacks", () => {
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

  it("are repeated as the fragment of the URL says, with the same token, and only so", async () => {
    const tries = async (fragment: string) => {
      const tokens = new Map<unknown, number>();
      const { call } = await called(
        { StatusCallback: `/status${fragment}`, StatusCallbackEvent: ["completed"] },
        {
          answers: {
            "/status": (request, response) => {
              const token = request.headers["i-twilio-idempotency-token"];
              tokens.set(token, (tokens.get(token) ?? 0) + 1);
              response.writeHead(503).end();
            },
          },
        },
      );
      const outcomes = outcomesOf(call);
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
      return outcomesOf(await emulator.ended(sid)).length;
    };
    expect(await tries("")).toBe(2);
    expect(await tries("#rc=0")).toBe(1);
    expect(await tries("#rc=5&rp=5xx")).toBe(1);
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
    const { headers, body } = notificationOf(await emulator.ended(sid)).request;
    expect(isSigned({ url, headers, body })).toBe(true);
  });
});

it("a recording has the id of its call and where it comes from, and can be fetched with and without .wav", async () => {
  const { at, call, baseUrl } = await called({
    ...{ Record: true, RecordingStatusCallback: "/recording" },
  });
  const RecordingSid = `RE${call.id.slice(2)}`;
  expect(at("/recording")).toMatchObject([{ RecordingSid, RecordingSource: "OutboundAPI" }]);
  const { RecordingUrl = "" } = at("/status").at(-1) ?? {};
  expect(new URL(RecordingUrl).origin).toBe(baseUrl);
  for (const url of [RecordingUrl, `${RecordingUrl}.wav`]) {
    const response = await fetch(url);
    expect(response.headers.get("content-type")).toBe("audio/wav");
    expect((await response.arrayBuffer()).byteLength).toBe(44 + 3 * 16_000);
  }
});

describe("the detection of answering machines", () => {
  it.each([
    ["Enable", "human", 2],
    ["Enable", "machine_start", 2],
    ["DetectMessageEnd", "human", 2],
    ["DetectMessageEnd", "machine_end_beep", 4.5],
  ] as const)(
    "%s: the flow is asked once it is decided that it is %s, after %d s",
    async (MachineDetection, AnsweredBy, seconds) => {
      const { at, baseUrl, call } = await called(
        { MachineDetection, document: undefined, Url: "/voice" },
        { ...(AnsweredBy !== "human" && machine), answers: { "/voice": twiml } },
      );
      expect(at("/voice")).toMatchObject([{ AnsweredBy }]);
      expect(at("/status").map((one) => one.AnsweredBy)).toEqual([
        undefined,
        undefined,
        undefined,
        AnsweredBy,
      ]);
      expect((await clientFor(baseUrl).calls(call.id).fetch()).answeredBy).toBe(AnsweredBy);
      expect(call.duration).toBe(Math.round(seconds + 3));
    },
  );

  it("AsyncAmd: its callback has the account and the call, and nothing else of it", async () => {
    const amd = { MachineDetection: "Enable", AsyncAmd: true, AsyncAmdStatusCallback: "/amd" };
    const { at, call } = await called(amd, machine);
    expect(at("/amd")).toEqual([
      {
        ...{ AccountSid: accountSid, CallSid: call.id },
        ...{ AnsweredBy: "machine_start", MachineDetectionDuration: "2000" },
      },
    ]);
  });
});
