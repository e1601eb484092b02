import twilio from "twilio";
import { describe, expect, it } from "vitest";
import type { CallRecord, EmulatorOptions } from "../../src/emulator/index.ts";
import { presses, wav } from "../markup/callee.ts";
import {
  type Answers,
  accountSid,
  answering,
  follow,
  from,
  startApplication,
  startTwilio,
  verbsOf,
} from "./stage.ts";

const { VoiceResponse } = twilio.twiml;

/** TwiML by Twilio's own builder. */
const built = (build: (response: InstanceType<typeof VoiceResponse>) => void): string => {
  const response = new VoiceResponse();
  build(response);
  return response.toString();
};

const hangup = built((response) => response.hangup());

const sends =
  (bytes: Buffer, type: string): Answers[string] =>
  (_, response) =>
    void response.type(type).send(bytes);

const errorOf = ({ history, flow_error, state }: CallRecord) => {
  const entry = history.find(({ type }) => type === "flow_error");
  return { state, flow_error, code: entry?.type === "flow_error" ? entry.code : undefined };
};

describe("the request for TwiML", () => {
  it("has the fields of the call, by POST or by GET", async () => {
    const { origin, received } = await startApplication({ "/voice": hangup });
    const { emulator, client } = await startTwilio();
    for (const method of ["POST", "GET"] as const) {
      const { sid } = await client.calls.create({
        from,
        to: answering,
        url: `${origin}/voice?a=1`,
        method,
      });
      await emulator.ended(sid);
      expect(received.pop()).toEqual({
        path: "/voice",
        method,
        fields: {
          ...(method === "GET" && { a: "1" }),
          AccountSid: accountSid,
          ApiVersion: "2010-04-01",
          CallSid: sid,
          CallStatus: "in-progress",
          Called: answering,
          Caller: from,
          Direction: "outbound-api",
          From: from,
          To: answering,
        },
      });
    }
  });

  it("has user and password of the URL as a header, and neither is signed", async () => {
    const headers: unknown[] = [];
    const { origin } = await startApplication({
      "/voice": (request, response) => {
        headers.push(request.headers.authorization);
        response.type("text/xml").send(hangup);
      },
    });
    const { emulator, client } = await startTwilio();
    const url = `${origin.replace("//", "//user:p%40ss@")}/voice`;
    const { sid } = await client.calls.create({ from, to: answering, url });
    await emulator.ended(sid);
    expect(headers).toEqual([`Basic ${btoa("user:p@ss")}`]);
  });

  it("follows ten redirects, and no eleventh", async () => {
    const { origin, received } = await startApplication({
      "/hop": (request, response) => {
        const left = Number(request.query.left);
        if (left > 0) response.redirect(302, `/hop?left=${left - 1}`);
        else response.type("text/xml").send(hangup);
      },
    });
    const { emulator, client } = await startTwilio();
    const ended = async (left: number) => {
      const { sid } = await client.calls.create({
        from,
        to: answering,
        url: `${origin}/hop?left=${left}`,
      });
      return emulator.ended(sid);
    };
    expect(verbsOf(await ended(10))).toEqual(["Hangup"]);
    expect(received.map(({ method }) => method)).toEqual(["POST", ...Array(10).fill("GET")]);
    expect(errorOf(await ended(11))).toMatchObject({
      flow_error: "step 1: Url gave no answer: redirects more than 10 times",
      code: 11200,
    });
  });

  it("is repeated as the fragment of the URL says, and only so", async () => {
    let count = 0;
    const { origin } = await startApplication({
      "/voice": (_, response) => {
        count++;
        response.status(500).send("");
      },
    });
    const { emulator, client } = await startTwilio();
    const counted = async (fragment: string) => {
      count = 0;
      const { sid } = await client.calls.create({
        from,
        to: answering,
        url: `${origin}/voice${fragment}`,
      });
      await emulator.ended(sid);
      return count;
    };
    expect(await counted("")).toBe(1);
    expect(await counted("#rc=3")).toBe(1);
    expect(await counted("#rc=3&rp=4xx")).toBe(1);
    expect(await counted("#rc=3&rp=ct,5xx")).toBe(4);
    expect(await counted("#rc=9&rp=all")).toBe(6);
  });

  it.each<[string, Answers[string], string, number]>([
    [
      "HTTP 500",
      (_, response) => void response.status(500).send(""),
      "Url answered HTTP 500",
      11200,
    ],
    ["no XML", "<Response><Say>", "The TwiML is not well-formed XML", 12100],
    ["no Response", "<Answer/>", "The TwiML has no Response as its root", 12100],
    [
      "a document type",
      '<!DOCTYPE a [<!ENTITY b "c">]><Response><Say>&b;</Say></Response>',
      "The TwiML has a document type",
      12100,
    ],
    [
      "an unknown entity",
      "<Response><Say>&b;</Say></Response>",
      "The TwiML is not well-formed XML",
      12100,
    ],
    [
      "JSON",
      (_, response) => void response.type("application/json").send("{}"),
      "Url answered the type application/json",
      12300,
    ],
    [
      "more than 64 kB",
      `<Response><Say>${"a".repeat(65_536)}</Say></Response>`,
      "Url answered more than 64 kB",
      11750,
    ],
  ])("fails for %s", async (_, answer, words, code) => {
    const { call } = await follow("", { answers: { "/voice": answer } });
    const error = errorOf(call);
    expect(error).toMatchObject({ state: "completed", code });
    expect(error.flow_error).toContain(`step 1: ${words}`);
  });

  it("goes to FallbackUrl once, which is told what failed", async () => {
    const { origin, at } = await startApplication({
      "/voice": (_, response) => void response.status(500).send(""),
      "/fallback": built((response) => response.say("Sorry")),
    });
    const { emulator, client } = await startTwilio();
    const call = { from, to: answering, url: `${origin}/voice`, fallbackUrl: `${origin}/fallback` };
    const { sid } = await client.calls.create(call);
    const ended = await emulator.ended(sid);
    expect([ended.reason, ...verbsOf(ended)]).toEqual(["normal", "Say 500"]);
    expect(at("/fallback")).toMatchObject([{ ErrorCode: "11200", ErrorUrl: `${origin}/voice` }]);
  });

  it("ends the call when FallbackUrl fails as well", async () => {
    const { origin, received } = await startApplication({
      "/voice": (_, response) => void response.status(500).send(""),
      "/fallback": "<Response><Record/></Response>",
    });
    const { emulator, client } = await startTwilio();
    const call = { from, to: answering, url: `${origin}/voice`, fallbackUrl: `${origin}/fallback` };
    const { sid } = await client.calls.create(call);
    const { flow_error } = await emulator.ended(sid);
    expect(flow_error).toBe("step 2: Record is not emulated");
    expect(received.map(({ path }) => path)).toEqual(["/voice", "/fallback"]);
  });

  it.each([
    ["text/html", hangup, "Hangup"],
    ["application/xml", hangup, "Hangup"],
    ["text/plain", "Good morning", "Say 780"],
  ])("takes a response of type %s", async (type, body, verb) => {
    const { call } = await follow("", {
      answers: { "/voice": (_, response) => void response.set("Content-Type", type).send(body) },
    });
    expect(verbsOf(call)).toEqual([verb]);
  });

  it("plays a response that is audio", async () => {
    const { call } = await follow("", { answers: { "/voice": sends(wav(2), "audio/wav") } });
    expect(verbsOf(call)).toEqual(["Play 2000"]);
  });
});

describe("what Twilio's builder makes", () => {
  it("Say lasts as long as its text, Pause as long as it says, Play as its media, each as often as loop says", async () => {
    const document = built((response) => {
      response.say({ voice: "alice", loop: 2 }, "Twenty characters ok");
      response.pause({ length: 3 });
      response.play({ loop: 2 }, "/media/hello.wav");
      response.play({ digits: "12ww" });
      response.pause();
    });
    const { call, emulator } = await follow(document, {
      answers: { "/media/hello.wav": sends(wav(4), "audio/wav") },
    });
    expect(verbsOf(call)).toEqual([
      "Say 2600",
      "Pause 3000",
      "Play 8000",
      "Play 2000",
      "Pause 1000",
    ]);
    expect(call.duration).toBe(17);
    const peaks = emulator.audio(call.id)?.peaks("application", 1_000) ?? [];
    expect(peaks.map((peak) => peak > 0)).toEqual([
      ...Array(3).fill(true),
      ...Array(2).fill(false),
      ...Array(11).fill(true),
      false,
    ]);
  });

  it("Redirect goes to a relative URL, by its method", async () => {
    const document = built((response) => {
      response.redirect({ method: "GET" }, "next?step=2");
      response.say("Never");
    });
    const { received, call } = await follow(document, { answers: { "/next": hangup } });
    expect(received.map(({ method, path, fields }) => [method, path, fields.step])).toEqual([
      ["POST", "/voice", undefined],
      ["GET", "/next", "2"],
    ]);
    expect(verbsOf(call)).toEqual(["Redirect", "Hangup"]);
  });

  it("Hangup and Reject end the call", async () => {
    for (const verb of ["hangup", "reject"] as const) {
      const { call } = await follow(
        built((response) => {
          response[verb]();
          response.say("Never");
        }),
      );
      expect(call).toMatchObject({ state: "completed", reason: "normal" });
      expect(verbsOf(call)).toHaveLength(1);
    }
  });

  it("an empty Response ends the call", async () => {
    expect((await follow(built(() => {}))).call).toMatchObject({ reason: "normal", duration: 0 });
  });

  it("a document that redirects to itself for ever ends the call", async () => {
    const { call } = await follow(built((response) => response.redirect("/voice")));
    expect(call.flow_error).toBe("step 51: Redirect follows 50 others that do nothing else");
  });
});

describe("Gather", () => {
  const menu = (attributes: object) =>
    built((response) => {
      const gather = response.gather({ action: "/chosen", ...attributes });
      gather.say("Press one for sales or two for support");
      response.say("Nothing was pressed");
    });

  const gathered = (attributes: object, callee: EmulatorOptions["callee"]) =>
    follow(menu(attributes), { answers: { "/chosen": hangup }, ...(callee && { callee }) });

  it("sends the digits to its action as soon as numDigits were pressed, in the middle of the prompt", async () => {
    const { at, call } = await gathered({ numDigits: 1 }, presses([1_000, "2"]));
    expect(at("/chosen")).toMatchObject([{ Digits: "2", FinishedOnKey: "", msg: "Gather End" }]);
    expect(verbsOf(call)).toEqual(["Gather", "Say 2470", "Hangup"]);
    expect(call.history.find(({ type }) => type === "verb")).toEqual({
      type: "verb",
      at: expect.any(String),
      call_id: call.id,
      step: 1,
      verb: "Gather",
      attributes: { numDigits: "1", action: "/chosen" },
    });
    expect((call.ended_at ?? 0) - (call.answered_at ?? 0)).toBe(1_000);
  });

  it("ends with the key of finishOnKey, which is no digit", async () => {
    expect((await gathered({}, presses([3_000, "12#34"]))).at("/chosen")).toMatchObject([
      { Digits: "12", FinishedOnKey: "#" },
    ]);
    expect(
      (await gathered({ finishOnKey: "*" }, presses([3_000, "1#*"]))).at("/chosen"),
    ).toMatchObject([{ Digits: "1#", FinishedOnKey: "*" }]);
  });

  it("ends when no key was pressed for timeout seconds, after the prompt and after each key", async () => {
    const { at, call } = await gathered(
      { timeout: 4 },
      presses([1_000, "1"], [4_000, "2"], [8_500, "3"]),
    );
    expect(at("/chosen")).toMatchObject([{ Digits: "12" }]);
    expect((call.ended_at ?? 0) - (call.answered_at ?? 0)).toBe(8_000);
  });

  it("goes on with the next verb when nothing was pressed", async () => {
    const { at, call } = await gathered({ timeout: 2 }, undefined);
    expect(at("/chosen")).toEqual([]);
    expect(verbsOf(call)).toEqual(["Gather", "Say 2470", "Say 1235"]);
    expect((call.ended_at ?? 0) - (call.answered_at ?? 0)).toBe(2_470 + 2_000 + 1_235);
  });

  it("asks its action all the same with actionOnEmptyResult", async () => {
    const { at } = await gathered({ actionOnEmptyResult: true, timeout: 1 }, undefined);
    expect(at("/chosen")).toMatchObject([{ Digits: "" }]);
  });

  it("asks the document's own URL without an action", async () => {
    const document = built((response) => response.gather({ numDigits: 1 }));
    let count = 0;
    const { at } = await follow("", {
      callee: presses([500, "7"]),
      answers: {
        "/voice": (_, response) => void response.type("text/xml").send(count++ ? hangup : document),
      },
    });
    expect(at("/voice")).toMatchObject([{}, { Digits: "7" }]);
  });

  it("needs an action in TwiML that came with the call", async () => {
    const { emulator, client } = await startTwilio({ callee: presses([500, "1"]) });
    const twiml = "<Response><Gather numDigits='1'/></Response>";
    const { sid } = await client.calls.create({ from, to: answering, twiml });
    const { flow_error } = await emulator.ended(sid);
    expect(flow_error).toBe("step 1: Gather.action is missing, and the TwiML has no URL");
  });

  it("records what the keys sound like", async () => {
    const { emulator, call } = await gathered({ numDigits: 2 }, presses([1_000, "12"]));
    const peaks = emulator.audio(call.id)?.peaks("callee", 100) ?? [];
    expect(peaks.map((peak) => peak > 0).indexOf(true)).toBe(10);
  });

  it("takes no speech: alone it ends the call, beside dtmf it is left out", async () => {
    const { call } = await gathered({ input: "speech" }, undefined);
    expect(call.flow_error).toBe("step 1: Gather.input is speech: only dtmf is emulated");
    const { at } = await gathered({ input: "dtmf speech", numDigits: 1 }, presses([500, "5"]));
    expect(at("/chosen")).toMatchObject([{ Digits: "5" }]);
  });
});

describe("Dial", () => {
  const dialling = (build: Parameters<typeof built>[0], options: EmulatorOptions = {}) =>
    follow(built(build), { answers: { "/dialled": hangup }, ...options });

  it.each([
    [answering, { DialCallStatus: "completed", DialCallDuration: "5", DialBridged: "true" }],
    ["+12025550101", { DialCallStatus: "busy", DialBridged: "false" }],
    ["+12025550102", { DialCallStatus: "no-answer", DialBridged: "false" }],
    ["+12025550103", { DialCallStatus: "no-answer", DialBridged: "false" }],
    ["+12025550104", { DialCallStatus: "failed", DialBridged: "false" }],
  ])("tells its action how the second leg to %s ended: %j", async (to, fields) => {
    const { at, call } = await dialling(
      (response) => void response.dial({ action: "/dialled" }, to),
    );
    expect(at("/dialled")).toMatchObject([fields]);
    expect(at("/dialled")[0]?.DialCallSid).toMatch(/^CA[\da-f]{32}$/);
    expect(verbsOf(call)).toEqual(["Dial", "Hangup"]);
  });

  it("calls a Number, a Sip address, or the first of several that answers", async () => {
    const legs = ({ history }: CallRecord) =>
      history.flatMap((entry) =>
        entry.type === "leg" && entry.state === "initiated" ? [entry.to] : [],
      );
    const one = await dialling((response) => void response.dial().number("+1 (202) 555-0188"));
    expect(legs(one.call)).toEqual(["+12025550188"]);
    const sip = await dialling((response) => void response.dial().sip("sip:bob@example.com"));
    expect(legs(sip.call)).toEqual(["sip:bob@example.com"]);
    const several = await dialling((response) => {
      const dial = response.dial();
      for (const number of ["+12025550101", answering]) dial.number(number);
    });
    expect(legs(several.call)).toEqual([answering]);
  });

  it("rings for timeout seconds, talks for timeLimit, and goes on with the next verb without an action", async () => {
    const { call } = await dialling((response) => {
      response.dial({ timeout: 9 }, "+12025550102");
      response.dial({ timeLimit: 3 }, answering);
      response.say("Goodbye");
    });
    expect(verbsOf(call)).toEqual(["Dial", "Dial", "Say 500"]);
    expect((call.ended_at ?? 0) - (call.answered_at ?? 0)).toBe(9_000 + 2_000 + 3_000 + 500);
  });
});

describe("what isn't emulated", () => {
  it.each([
    ["Record", (response: InstanceType<typeof VoiceResponse>) => response.record()],
    ["Enqueue", (response: InstanceType<typeof VoiceResponse>) => response.enqueue("line")],
    [
      "Dial.Conference",
      (response: InstanceType<typeof VoiceResponse>) => response.dial().conference("room"),
    ],
    [
      "Connect.ConversationRelay",
      (response: InstanceType<typeof VoiceResponse>) =>
        response.connect().conversationRelay({ url: "wss://app.example" }),
    ],
  ])("%s ends the call with an error that names it", async (name, build) => {
    const { call } = await follow(built((response) => void build(response)));
    expect(call).toMatchObject({
      reason: "flow_error",
      flow_error: `step 1: ${name} is not emulated`,
    });
  });

  it("attributes that have no effect are in the history", async () => {
    const document = built((response) => {
      response.say({ voice: "Polly.Joanna" }, "Hello");
      response
        .dial({ callerId: from, timeout: 5 })
        .number({ statusCallback: "/number" }, answering);
    });
    const { call } = await follow(document);
    expect(call.history.find(({ type }) => type === "flow")).toMatchObject({
      document,
      unknown_fields: ["Say.voice", "Dial.callerId", "Number.statusCallback"],
    });
  });
});

describe("the callee of a scenario", () => {
  it("hangs up in the middle of the first verb", async () => {
    const { call } = await follow("<Response><Pause length='8'/></Response>", {
      to: "+12025550105",
    });
    expect(call).toMatchObject({ state: "completed", reason: "normal", duration: 4 });
  });
});
