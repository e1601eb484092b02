import twilio from "twilio";
import { describe, expect, it } from "vitest";
import type { CallRecord, EmulatorOptions } from "../../src/emulator/index.ts";
import { presses, wav } from "../markup/callee.ts";
import {
  type Answers,
  answering,
  applicationId,
  follow,
  from,
  place,
  startApplication,
  startTelnyx,
  verbsOf,
} from "./stage.ts";

const { VoiceResponse } = twilio.twiml;

type Response = InstanceType<typeof VoiceResponse>;

/** Markup by Twilio's builder, which makes the same for the verbs that both carriers have. */
const built = (build: (response: Response) => void): string => {
  const response = new VoiceResponse();
  build(response);
  return response.toString();
};

const hangup = built((response) => response.hangup());

const talkOf = ({ answered_at = 0, ended_at = 0 }: CallRecord) => ended_at - answered_at;

describe("the request for TeXML, which Telnyx's own verifier accepts", () => {
  it.each(["POST", "GET"])("has the fields of the call, by %s", async (UrlMethod) => {
    const { origin, received } = await startApplication({ "/voice": hangup });
    const { emulator, client } = await startTelnyx();
    const sid = await place(client, { Url: `${origin}/voice?a=1`, UrlMethod });
    await emulator.ended(sid);
    expect(received).toEqual([
      {
        path: "/voice",
        method: UrlMethod,
        fields: {
          ...(UrlMethod === "GET" && { a: "1" }),
          AccountSid: expect.any(String),
          CallSid: sid,
          CallSidLegacy: sid,
          CallStatus: "in-progress",
          CallerId: from,
          ConnectionId: applicationId,
          From: from,
          To: answering,
        },
      },
    ]);
  });

  it.each<[string, Answers[string], string]>([
    ["HTTP 500", 500, "Url answered HTTP 500"],
    ["no XML", "<Response><Say>", "The TeXML is not well-formed XML"],
    ["no Response", "<Answer/>", "The TeXML has no Response as its root"],
    [
      "a template",
      "<Response><Say>{{From}}</Say></Response>",
      "The TeXML has a Mustache template, which is not emulated",
    ],
  ])("fails for %s", async (_, answer, words) => {
    const { call } = await follow("", { answers: { "/voice": answer } });
    expect(call.reason).toBe("flow_error");
    expect(call.flow_error).toContain(`step 1: ${words}`);
  });

  it("goes to FallbackUrl once", async () => {
    const { origin, received } = await startApplication({ "/voice": 500, "/fallback": hangup });
    const { emulator, client } = await startTelnyx();
    const urls = { Url: `${origin}/voice`, FallbackUrl: `${origin}/fallback` };
    const { reason } = await emulator.ended(await place(client, urls));
    expect([reason, ...received.map(({ path }) => path)]).toEqual([
      "normal",
      "/voice",
      "/fallback",
    ]);
  });
});

describe("what a builder of another carrier makes", () => {
  it("Say lasts as long as its text, Pause as long as it says, Play as its media", async () => {
    const document = built((response) => {
      response.say({ voice: "alice", loop: 2 }, "Twenty characters ok");
      response.pause({ length: 3 });
      response.play({ loop: 2 }, "/media/hello.wav");
      response.play({ digits: "12ww" });
    });
    const { call, emulator } = await follow(document, {
      answers: { "/media/hello.wav": (_, response) => void response.end(wav(4)) },
    });
    expect(verbsOf(call)).toEqual(["Say 2600", "Pause 3000", "Play 8000", "Play 2000"]);
    const peaks = emulator.audio(call.id)?.peaks("application", 1_000) ?? [];
    expect(peaks.map((peak) => peak > 0)).toEqual([
      ...Array(3).fill(true),
      ...Array(2).fill(false),
      ...Array(11).fill(true),
    ]);
    expect(call.history.find(({ type }) => type === "flow")).toMatchObject({
      document,
      unknown_fields: ["Say.voice"],
    });
  });

  it("Redirect goes to a relative URL, by its method, and Hangup ends the call", async () => {
    const document = built((response) => {
      response.redirect({ method: "GET" }, "next?step=2");
      response.say("Never");
    });
    const { received, call } = await follow(document, { answers: { "/next": hangup } });
    expect(received.map(({ method, path, fields }) => [method, path, fields.step])).toEqual([
      ["POST", "/voice", undefined],
      ["GET", "/next", "2"],
    ]);
    expect([call.reason, ...verbsOf(call)]).toEqual(["normal", "Redirect", "Hangup"]);
  });

  it.each([
    ["Record", (response: Response) => response.record()],
    ["Enqueue", (response: Response) => response.enqueue("line")],
    ["Dial.Conference", (response: Response) => response.dial().conference("room")],
    ["Start.Siprec", (response: Response) => response.start().siprec({ name: "one" })],
  ])("%s ends the call with an error that names it", async (name, build) => {
    const { call } = await follow(built((response) => void build(response)));
    const flow_error = `step 1: ${name} is not emulated`;
    expect(call).toMatchObject({ reason: "flow_error", flow_error });
  });
});

describe("Gather", () => {
  const gathered = (attributes: string, callee?: EmulatorOptions["callee"]) => {
    const gather = `<Gather action="/chosen" ${attributes}><Say>Press one or two</Say></Gather>`;
    return follow(`<Response>${gather}<Say>Nothing</Say></Response>`, {
      answers: { "/chosen": hangup, "/invalid": hangup },
      ...(callee && { callee }),
    });
  };

  it("sends the digits to its action as soon as numDigits were pressed, in the prompt", async () => {
    const { at, call } = await gathered('numDigits="1"', presses([500, "2"]));
    expect(at("/chosen")).toMatchObject([{ Digits: "2", CallSid: call.id }]);
    expect([talkOf(call), ...verbsOf(call)]).toEqual([500, "Gather", "Say 1040", "Hangup"]);
  });

  it("ends with the key of finishOnKey, after maxDigits, or when timeout seconds have passed", async () => {
    const digits = async (attributes: string, keys: string) =>
      (await gathered(attributes, presses([2_000, keys]))).at("/chosen").map((one) => one.Digits);
    expect(await digits("", "12#34")).toEqual(["12"]);
    expect(await digits('maxDigits="3"', "12345")).toEqual(["123"]);
    expect(await digits('timeout="4"', "1")).toEqual(["1"]);
  });

  it("goes on with the next verb when nothing was pressed", async () => {
    const { at, call } = await gathered('timeout="2"');
    expect(at("/chosen")).toEqual([]);
    expect([talkOf(call), ...verbsOf(call)]).toEqual([3_540, "Gather", "Say 1040", "Say 500"]);
  });

  it.each([
    ['validDigits="12" invalidDigitsAction="/invalid"', "13#", "/invalid"],
    ['minDigits="3" invalidDigitsAction="/invalid"', "12#", "/invalid"],
    ['validDigits="12" minDigits="2" invalidDigitsAction="/invalid"', "12#", "/chosen"],
  ])("with %s sends %s to %s", async (attributes, keys, path) => {
    const { received } = await gathered(attributes, presses([2_000, keys]));
    expect(received.at(-1)).toMatchObject({ path, fields: { Digits: keys.slice(0, -1) } });
  });

  it("without an action continues with the next verb", async () => {
    const document = '<Response><Gather numDigits="1"/><Say>Next</Say></Response>';
    const { call, received } = await follow(document, { callee: presses([500, "7"]) });
    expect([received.length, ...verbsOf(call)]).toEqual([1, "Gather", "Say 500"]);
  });
});

describe("Dial", () => {
  it.each([
    [answering, { DialCallStatus: "completed", DialCallDuration: "5" }],
    ["+12025550101", { DialCallStatus: "busy" }],
    ["+12025550102", { DialCallStatus: "no-answer" }],
    ["+12025550103", { DialCallStatus: "failed" }],
    ["+12025550104", { DialCallStatus: "failed" }],
  ])("sends its action how the second leg to %s ended: %j", async (to, fields) => {
    const document = built((response) => void response.dial({ action: "/dialled" }).number(to));
    const { at, call } = await follow(document, { answers: { "/dialled": hangup } });
    const [dialled] = at("/dialled");
    expect(dialled).toMatchObject({ ...fields, DialCallSid: expect.stringMatching(/^v3:/) });
    expect(dialled?.DialCallSidLegacy).toBe(dialled?.DialCallSid);
    expect(verbsOf(call)).toEqual(["Dial", "Hangup"]);
  });

  it("rings for timeout seconds, talks for timeLimit, and goes on without an action", async () => {
    const document = built((response) => {
      response.dial({ timeout: 9 }, "+12025550102");
      response.dial({ timeLimit: 3 }).sip("sip:bob@example.com");
      response.say("Goodbye");
    });
    const { call } = await follow(document);
    expect(verbsOf(call)).toEqual(["Dial", "Dial", "Say 500"]);
    expect(talkOf(call)).toBe(9_000 + 2_000 + 3_000 + 500);
  });
});

it("a callee of a scenario hangs up in the middle of the first verb", async () => {
  const options = { to: "+12025550105" };
  const { call } = await follow("<Response><Pause length='8'/></Response>", options);
  expect(call).toMatchObject({ state: "completed", reason: "normal", duration: 4 });
});
