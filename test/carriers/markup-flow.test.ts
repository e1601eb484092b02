import { describe, expect, it } from "vitest";
import type { EmulatorOptions } from "../../src/emulator/index.ts";
import { follow } from "../vonage/stage.ts";
import { presses, wav } from "./callee.ts";
import { markupCarriers } from "./carriers.ts";
import { type Build, built, called, followDocument, hangup } from "./markup.ts";
import { type Answer, answering, talkOf, verbsOf } from "./stage.ts";

describe.each(markupCarriers)("$name: the request for a document", (carrier) => {
  it.each([
    ["POST", {}],
    ["GET", { a: "1" }],
  ])("has the fields of the call, by %s", async (method, query) => {
    const answers = { "/voice": hangup };
    const fields = { Url: "/voice?a=1", [carrier.methodField]: method };
    const { received, call } = await called(carrier, fields, { answers });
    const own = { CallStatus: "in-progress", ...carrier.callFields(call.id) };
    expect(received).toEqual([{ path: "/voice", method, fields: { ...query, ...own } }]);
  });

  it("goes to FallbackUrl once", async () => {
    const { received, call } = await called(
      carrier,
      { Url: "/voice", FallbackUrl: "/fallback" },
      { answers: { "/voice": 500, "/fallback": hangup } },
    );
    expect(received.map(({ path }) => path)).toEqual(["/voice", "/fallback"]);
    expect([call.reason, ...verbsOf(call)]).toEqual(["normal", "Hangup"]);
  });
});

describe.each(markupCarriers)("$name: a redirect of a document", (carrier) => {
  const redirect =
    (Location: string): Answer =>
    (_, response) =>
      void response.writeHead(302, { Location }).end();

  it.each(["https://169.254.169.254/latest/meta-data", "another application", "http://"])(
    "to %s is not followed, so that no signed request leaves the flow's origin",
    async (to) => {
      const other = await carrier.startApplication({ "/voice": hangup });
      const target = to === "another application" ? `${other.origin}/voice` : to;
      const { call } = await called(
        carrier,
        { Url: "/voice" },
        { answers: { "/voice": redirect(target) } },
      );
      expect(call.flow_error).toMatch(
        /^step 1: Url gave no answer: redirects to (another origin|no URL)/,
      );
      expect(other.received).toEqual([]);
    },
  );

  it("within its origin is followed", async () => {
    const answers = { "/voice": redirect("/moved"), "/moved": hangup };
    const { call, received } = await called(carrier, { Url: "/voice" }, { answers });
    expect([call.reason, received.map(({ path }) => path)]).toEqual([
      "normal",
      ["/voice", "/moved"],
    ]);
  });
});

it.each(markupCarriers)(
  "$name: a Dial that dials for ever, as its callee is busy, ends the call",
  async (carrier) => {
    const again: Answer = (_, response) =>
      void response
        .setHeader("Content-Type", "text/xml")
        .end('<Response><Dial action="/voice">+12025550101</Dial></Response>');
    const { call } = await called(carrier, { Url: "/voice" }, { answers: { "/voice": again } });
    expect(call.flow_error).toMatch(/: Url follows 50 others that take no time$/);
  },
);

it("the keys of Play digits sound as keys", async () => {
  const heard = markupCarriers.map(async (carrier) => {
    const document = '<Response><Play digits="4ww2"/><Pause length="9"/></Response>';
    const callee = [{ type: "until-keys", keys: "42" }, { type: "hangup" }] as const;
    const { call } = await called(carrier, { document }, { callee });
    return call.duration;
  });
  expect(await Promise.all(heard)).toEqual([2, 2]);
});

it("the same sentence lasts as long at each carrier, however it is indented and marked up", async () => {
  const words = ["Press one", "for sales."];
  const say = `<Response><Say>\n  ${words.join("\n    ")}\n</Say></Response>`;
  const durations = markupCarriers.map(async (carrier) => {
    const { call } = await called(carrier, { document: say });
    return verbsOf(call)[0];
  });
  const { call } = await follow([{ action: "talk", text: `<speak>${words.join("  ")}</speak>` }]);
  const expected = 20 * 65;
  expect([...(await Promise.all(durations)), verbsOf(call)[0]]).toEqual([
    `Say ${expected}`,
    `Say ${expected}`,
    `talk ${expected}`,
  ]);
});

describe.each(markupCarriers)("$name: what Twilio's builder makes", (carrier) => {
  it("Say lasts as long as its text, Pause as long as it says, Play as its media, each as often as loop says", async () => {
    const document = built((response) => {
      response.say({ voice: "alice", loop: 2 }, "Twenty characters ok");
      response.pause({ length: 3 });
      response.play({ loop: 2 }, "/media/hello.wav");
      response.play({ digits: "12ww" });
      response.pause();
    });
    const { call, emulator } = await followDocument(carrier, document, {
      answers: {
        "/media/hello.wav": (_, response) =>
          void response.setHeader("Content-Type", "audio/wav").end(wav(4)),
      },
    });
    const verbs = ["Say 2600", "Pause 3000", "Play 8000", "Play 2000", "Pause 1000"];
    expect(verbsOf(call)).toEqual(verbs);
    expect(call.duration).toBe(17);
    const peaks = emulator.audio(call.id)?.peaks("application", 1_000) ?? [];
    expect(peaks.map((peak) => peak > 0)).toEqual([
      ...Array(3).fill(true),
      ...Array(2).fill(false),
      ...Array(10).fill(true),
      // After the keys: w is a pause.
      ...Array(2).fill(false),
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
    const next = built((response) => {
      response.hangup();
      response.say("Never");
    });
    const { received, call } = await followDocument(carrier, document, {
      answers: { "/next": next },
    });
    expect(received.map(({ method, path, fields }) => [method, path, fields.step])).toEqual([
      ["POST", "/voice", undefined],
      ["GET", "/next", "2"],
    ]);
    expect([call.reason, ...verbsOf(call)]).toEqual(["normal", "Redirect", "Hangup"]);
  });

  it.each<readonly [string, Build]>([
    ["Enqueue", (response) => response.enqueue("line")],
    ["Dial.Queue", (response) => response.dial().queue("line")],
    carrier.notEmulated,
  ])("%s ends the call with an error that names it", async (name, build) => {
    const { call } = await followDocument(carrier, built(build));
    expect(call).toMatchObject({ state: "completed", reason: "flow_error" });
    expect(call.flow_error).toContain(`step 1: ${name} is not emulated`);
  });
});

describe.each(markupCarriers)("$name: Gather", (carrier) => {
  const gathered = (attributes: string, callee?: EmulatorOptions["callee"]) => {
    const gather = `<Gather action="/chosen" ${attributes}><Say>Press one or two</Say></Gather>`;
    return followDocument(carrier, `<Response>${gather}<Say>Nothing</Say></Response>`, {
      answers: { "/chosen": hangup },
      ...(callee && { callee }),
    });
  };

  it("sends the digits to its action as soon as numDigits were pressed, in the prompt", async () => {
    const { at, call } = await gathered('numDigits="1"', presses([500, "2"]));
    expect(at("/chosen")).toMatchObject([{ Digits: "2", CallSid: call.id }]);
    expect([talkOf(call), ...verbsOf(call)]).toEqual([500, "Gather", "Say 1040", "Hangup"]);
  });

  it.each([
    ["", "12#34", "12"],
    ['finishOnKey="*"', "1#*", "1#"],
    ['timeout="4"', "1", "1"],
  ])("with %s and the keys %s sends %s", async (attributes, keys, Digits) => {
    const { at } = await gathered(attributes, presses([2_000, keys]));
    expect(at("/chosen")).toMatchObject([{ Digits }]);
  });

  it("ends when no key was pressed for timeout seconds, after the prompt and after each key", async () => {
    const keys = presses([500, "1"], [4_000, "2"], [8_500, "3"]);
    const { at, call } = await gathered('timeout="4"', keys);
    expect(at("/chosen")).toMatchObject([{ Digits: "12" }]);
    expect(talkOf(call)).toBe(8_000);
  });

  it("goes on with the next verb when nothing was pressed", async () => {
    const { at, call } = await gathered('timeout="2"');
    expect(at("/chosen")).toEqual([]);
    expect([talkOf(call), ...verbsOf(call)]).toEqual([3_540, "Gather", "Say 1040", "Say 500"]);
  });
});

describe.each(markupCarriers)("$name: Dial", (carrier) => {
  it.each(carrier.dialled)(
    "sends its action how the second leg to %s ended: %j",
    async (to, fields) => {
      const document = built((response) => response.dial({ action: "/dialled" }).number(to));
      const { at, call } = await followDocument(carrier, document, {
        answers: { "/dialled": hangup },
      });
      const [dialled = {}] = at("/dialled");
      expect(dialled).toMatchObject({
        ...fields,
        DialCallSid: expect.stringMatching(carrier.callId),
      });
      if ("DialCallSidLegacy" in dialled)
        expect(dialled.DialCallSidLegacy).toBe(dialled.DialCallSid);
      expect(verbsOf(call)).toEqual(["Dial", "Hangup"]);
    },
  );

  it("rings for timeout seconds, talks for timeLimit, and goes on without an action", async () => {
    const document = built((response) => {
      response.dial({ timeout: 9 }, "+12025550102");
      response.dial({ timeLimit: 3 }).sip("sip:bob@example.com");
      response.say("Goodbye");
    });
    const { call } = await followDocument(carrier, document);
    expect(verbsOf(call)).toEqual(["Dial", "Dial", "Say 500"]);
    expect(talkOf(call)).toBe(9_000 + 2_000 + 3_000 + 500);
  });
});

it.each(markupCarriers)(
  "$name: the callee of a scenario hangs up in the middle of the first verb",
  async (carrier) => {
    const document = "<Response><Pause length='8'/></Response>";
    const { call } = await followDocument(carrier, document, { to: "+12025550105" });
    expect(call).toMatchObject({ state: "completed", reason: "normal", duration: 4 });
  },
);

it.each(markupCarriers)(
  "$name: ringing and a call's length are limited by Timeout and TimeLimit",
  async (carrier) => {
    const document = "<Response><Pause length='180'/></Response>";
    const unanswered = { document, Timeout: 7 };
    const { call } = await called(carrier, unanswered, { to: "+12025550102" });
    expect([call.reason, (call.ended_at ?? 0) - call.initiated_at]).toEqual(["no_answer", 7_000]);
    const limited = await called(carrier, { document, TimeLimit: 60 }, { to: answering });
    expect(limited.call).toMatchObject({ reason: "max_duration", duration: 60 });
  },
);
