import { describe, expect, it } from "vitest";
import type { CallRecord, EmulatorOptions } from "../../src/emulator/index.ts";
import { presses, wav } from "../carriers/callee.ts";
import { type Build, built, hangup } from "../carriers/markup.ts";
import { type Answer, answering, from, verbsOf } from "../carriers/stage.ts";
import { follow, startApplication, startTwilio } from "./stage.ts";

const sends =
  (body: Buffer | string, type: string): Answer =>
  (_, response) =>
    void response.writeHead(200, { "Content-Type": type }).end(body);

const errorOf = ({ history, flow_error, state }: CallRecord) => {
  const entry = history.find(({ type }) => type === "flow_error");
  return { state, flow_error, code: entry?.type === "flow_error" ? entry.code : undefined };
};

describe("the request for TwiML", () => {
  it("has user and password of the URL as a header, and neither is signed", async () => {
    const headers: unknown[] = [];
    const { origin } = await startApplication({
      "/voice": (request, response) => {
        headers.push(request.headers.authorization);
        response.writeHead(200, { "Content-Type": "text/xml" }).end(hangup);
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
        const left = Number(request.url?.split("=")[1]);
        const next = { Location: `/hop?left=${left - 1}` };
        if (left > 0) response.writeHead(302, next).end();
        else response.writeHead(200, { "Content-Type": "text/xml" }).end(hangup);
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

  it("has the cookies that its origin has set in the call, and the history shows them", async () => {
    const cookies: (string | undefined)[] = [];
    const sets =
      (document: string, ...set: string[]): Answer =>
      (request, response) => {
        cookies.push(request.headers.cookie);
        const headers = { "Content-Type": "text/xml", "Set-Cookie": set };
        response.writeHead(200, headers).end(document);
      };
    const to = (path: string) => built((response) => response.redirect(path));
    const other = await startApplication({ "/elsewhere": sets(hangup) });
    const { origin } = await startApplication({
      "/voice": sets(to("/menu/"), "session=abc; Path=/; HttpOnly", "step=1", "menu=2; Path=/menu"),
      "/menu/": sets(to("/last"), "step=; Max-Age=0; Path=/"),
      "/last": sets(to(`${other.origin}/elsewhere`)),
    });
    const { emulator, client } = await startTwilio();
    const call = async () => {
      const { sid } = await client.calls.create({ from, to: answering, url: `${origin}/voice` });
      const { history } = await emulator.ended(sid);
      return history.flatMap((entry) => (entry.type === "flow" ? [entry.request?.cookie] : []));
    };
    const sent = [undefined, "session=abc; step=1; menu=2", "session=abc", undefined];
    expect(await call()).toEqual(sent);
    expect(await call()).toEqual(sent);
    expect(cookies).toEqual([...sent, ...sent]);
  });

  it("is repeated as the fragment of the URL says, and only so", async () => {
    const { origin, received } = await startApplication({ "/voice": 500 });
    const { emulator, client } = await startTwilio();
    const counted = async (fragment: string) => {
      received.length = 0;
      const { sid } = await client.calls.create({
        from,
        to: answering,
        url: `${origin}/voice${fragment}`,
      });
      await emulator.ended(sid);
      return received.length;
    };
    expect(await counted("")).toBe(1);
    expect(await counted("#rc=3")).toBe(1);
    expect(await counted("#rc=3&rp=4xx")).toBe(1);
    expect(await counted("#rc=3&rp=ct,5xx")).toBe(4);
    expect(await counted("#rc=9&rp=all")).toBe(6);
  });

  it.each<[string, Answer, string, number]>([
    ["HTTP 500", 500, "Url answered HTTP 500", 11200],
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
    ["JSON", sends("{}", "application/json"), "Url answered the type application/json", 12300],
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

  it("sends to FallbackUrl what failed", async () => {
    const { origin, at } = await startApplication({
      "/voice": 500,
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
      "/voice": 500,
      "/fallback": "<Response><Enqueue/></Response>",
    });
    const { emulator, client } = await startTwilio();
    const call = { from, to: answering, url: `${origin}/voice`, fallbackUrl: `${origin}/fallback` };
    const { sid } = await client.calls.create(call);
    const { flow_error } = await emulator.ended(sid);
    expect(flow_error).toContain("step 2: Enqueue is not emulated");
    expect(received.map(({ path }) => path)).toEqual(["/voice", "/fallback"]);
  });

  it.each([
    ["text/html", hangup, "Hangup"],
    ["application/xml", hangup, "Hangup"],
    ["text/plain", "Good morning", "Say 780"],
  ])("takes a response of type %s", async (type, body, verb) => {
    const { call } = await follow("", {
      answers: { "/voice": sends(body, type) },
    });
    expect(verbsOf(call)).toEqual([verb]);
  });

  it("plays a response that is audio", async () => {
    const { call } = await follow("", { answers: { "/voice": sends(wav(2), "audio/wav") } });
    expect(verbsOf(call)).toEqual(["Play 2000"]);
  });
});

describe("a document", () => {
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

  it("sends its action how it has ended, and is in the history with its attributes", async () => {
    const { at, call } = await gathered({ numDigits: 1 }, presses([1_000, "2"]));
    expect(at("/chosen")).toMatchObject([{ Digits: "2", FinishedOnKey: "", msg: "Gather End" }]);
    expect(call.history.find(({ type }) => type === "verb")).toEqual({
      type: "verb",
      at: expect.any(String),
      call_id: call.id,
      step: 1,
      verb: "Gather",
      attributes: { numDigits: "1", action: "/chosen" },
      takes: ["keys"],
    });
  });

  it("names the key of finishOnKey", async () => {
    const { at } = await gathered({}, presses([3_000, "12#34"]));
    expect(at("/chosen")).toMatchObject([{ Digits: "12", FinishedOnKey: "#" }]);
  });

  it("asks its action all the same with actionOnEmptyResult", async () => {
    const { at } = await gathered({ actionOnEmptyResult: true, timeout: 1 }, undefined);
    expect(at("/chosen")).toMatchObject([{ Digits: "" }]);
  });

  it("asks the document's own URL without an action", async () => {
    const document = built((response) => response.gather({ numDigits: 1 }));
    const { at } = await follow("", {
      callee: presses([500, "7"]),
      answers: {
        "/voice": (_, response, count) =>
          void response.setHeader("Content-Type", "text/xml").end(count > 1 ? hangup : document),
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
});

describe("Dial", () => {
  const dialling = (build: Build) => follow(built(build));

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
});

it("attributes that have no effect are in the history", async () => {
  const document = built((response) => {
    response.say({ voice: "Polly.Joanna" }, "Hello");
    response.dial({ callerId: from, timeout: 5 }).number({ statusCallback: "/number" }, answering);
  });
  const { call } = await follow(document);
  expect(call.history.find(({ type }) => type === "flow")).toMatchObject({
    document,
    unknown_fields: ["Say.voice", "Dial.callerId", "Number.statusCallback"],
  });
});
