import fc from "fast-check";
import { getDotPath, is, safeParse } from "valibot";
import { describe, expect, test } from "vitest";
import { BadParametersException } from "../../../src/errors.ts";
import { Action, dial, hangup, play, stream } from "../../../src/flows/actions.ts";
import { gather, say } from "../../../src/flows/say.ts";

const reported = (action: unknown): readonly string[] =>
  (safeParse(Action, action).issues ?? []).map((issue) => `${getDotPath(issue)} ${issue.message}`);

describe("the schema of an action", () => {
  test.each([
    [{ action: "sing" }, ["null must be play, stream, dial, hangup, say, gather or record"]],
    [{}, ["null must be play, stream, dial, hangup, say, gather or record"]],
    [null, ["null must be play, stream, dial, hangup, say, gather or record"]],
    [{ action: "play" }, ["media_url is missing"]],
    [
      { action: "play", media_url: "MARKED" },
      ['media_url must be an absolute URL: add "https://"'],
    ],
    [{ action: "hangup", reason: "MARKED" }, ["reason is unknown"]],
    [
      { action: "stream", ws_url: "MARKED", sample_rate: "MARKED", chunk_size: 30, record: "no" },
      [
        'ws_url must be an absolute URL: add "wss://"',
        'sample_rate must be "8k" or "16k"',
        "chunk_size must be 20 to 2000 ms, in steps of 20",
        "record must be true or false",
      ],
    ],
    [
      { action: "dial", to: "MARKED", timeout: 0, on_busy: { action: "dial" } },
      [
        'to must be an E.164 number, "+" and 7 to 15 digits, or a sip: URI',
        "timeout must be a whole number from 1 to 600",
        "on_busy.to is missing",
      ],
    ],
    [
      { action: "dial", to: "+12025550100", on_failure: { action: "play" }, on_no_answer: 7 },
      [
        "on_no_answer must be play, stream, dial, hangup, say, gather or record",
        "on_failure.media_url is missing",
      ],
    ],
  ])("names the fields and rules of %j, and no value", (action, rules) => {
    expect(reported(action)).toEqual(rules);
  });

  test.each([
    "https://app.test/a.wav",
    "http://localhost:8787/a.wav",
    "http://127.0.0.1/a.wav",
    "http://[::1]:1/a.wav",
  ])("takes media from %s: https, or this machine", (media_url) => {
    expect(is(Action, { action: "play", media_url })).toBe(true);
    const ws_url = media_url.replace("http", "ws");
    expect(is(Action, { action: "stream", ws_url })).toBe(true);
  });

  test.each(["8k", "16k"])("takes a stream at %s", (sample_rate) => {
    expect(is(Action, { action: "stream", ws_url: "wss://app.test/", sample_rate })).toBe(true);
  });

  test.each([
    ["sip:a@app.test", true],
    ["SIP:a", true],
    [`sip:${"a".repeat(2_079)}`, true],
    [`sip:${"a".repeat(2_080)}`, false],
    ["xsip:a@app.test", false],
    ["sip:a@app.test@b", false],
  ])("dials %s: %s (%#)", (to, taken) => expect(is(Action, { action: "dial", to })).toBe(taken));

  test("takes no socket whose scheme only ends like one", () => {
    expect(is(Action, { action: "stream", ws_url: "aws://app.test/" })).toBe(false);
  });

  test.each([
    "http://app.test/",
    "ftp://app.test/",
    "https://u:p@app.test/",
    "//app.test",
    "http://localhost.evil.test/",
  ])("takes no media from %s", (media_url) => {
    expect(is(Action, { action: "play", media_url })).toBe(false);
    const ws_url = media_url.replace("http", "ws");
    expect(is(Action, { action: "stream", ws_url })).toBe(false);
  });

  test.each([
    ["sip:ann@pbx.test", true],
    ["SIP:ann@pbx.test:5061;transport=tls", true],
    ["sip:pbx.test", true],
    ["sip:+12025550100@pbx.test", true],
    ["sip:", false],
    ["sips:ann@pbx.test", false],
    ["sip:ann@pbx.test\r\nX: 1", false],
    ["<sip:ann@pbx.test>", false],
    [`sip:${"a".repeat(2083)}`, false],
  ])("dials %j: %s", (to, takes) => expect(is(Action, { action: "dial", to })).toBe(takes));

  test("throws nothing, whatever it gets", () => {
    fc.assert(fc.property(fc.anything(), (value) => void safeParse(Action, value)));
  });
});

describe("what follows", () => {
  const url = "https://app.test/2";
  const tries = { digits: 1, on: { 1: "a" }, tries: 2 } as const;
  test.each<[string, () => unknown]>([
    ["flow_url must be left out with next", () => play(url, { next: "a", flow_url: url })],
    [
      "flow_url must be left out with next",
      () => stream("wss://a.test/", { next: "a", flow_url: url }),
    ],
    [
      "flow_url must be left out with next",
      () => dial("+12025550100", { next: "a", flow_url: url }),
    ],
    ["next must be the name of a step", () => play(url, { next: "" })],
    ["on_busy must be the name of a step", () => dial("+12025550100", { on_busy: "" })],
    [
      "flow_url must be left out with next",
      () => dial("+12025550100", { on_busy: { ...play(url), next: "a", flow_url: url } }),
    ],
    [
      "on_busy must not ask more than once: name a step that asks",
      () => dial("+12025550100", { on_busy: gather("Press 1.", tries) }),
    ],
    [
      "on_failure must not ask more than once: name a step that asks",
      () =>
        dial("+12025550100", {
          on_failure: dial("+12025550100", {
            on_busy: gather("1?", { ...tries, tries: 1 }),
            on_failure: gather("1?", tries),
          }),
        }),
    ],
  ])("%s", (message, make) => expect(make).toThrow(message));

  test("a branch is at most 100 actions", () => {
    const chained = (dials: number): object => ({
      ...{ action: "dial", to: "+12025550100" },
      on_busy: dials === 1 ? hangup() : chained(dials - 1),
    });
    expect(reported(chained(100))).toEqual([]);
    expect(reported(chained(101))).toEqual(["on_busy must be at most 100 actions"]);
  });

  test("branches that share actions are refused before each is checked as often as it is reached", () => {
    let reads = 0;
    const shared = {
      get action() {
        reads++;
        return "hangup";
      },
    };
    let action: object = shared;
    for (let each = 0; each < 12; each++) {
      action = { action: "dial", to: "+12025550100", on_busy: action, on_failure: action };
    }
    expect(is(Action, action)).toBe(false);
    expect(reads).toBeLessThan(100);
  });

  test("a branch that is the dial itself is refused", () => {
    const action: Record<string, unknown> = { action: "dial", to: "+12025550100" };
    action.on_busy = action;
    expect(is(Action, action)).toBe(false);
  });
});

describe("a builder", () => {
  const some = fc.option(fc.anything(), { nil: undefined });
  const options = fc.oneof(
    fc.dictionary(
      fc.constantFrom("flow_url", "record", "timeout", "sample_rate", "chunk_size", "on_busy", "x"),
      fc.oneof(
        some,
        fc.constantFrom<unknown>(true, false, 20, 400, "8k", "https://a.test/", {
          action: "hangup",
        }),
      ),
    ),
    some,
  );
  const first = fc.oneof(
    some,
    fc.constantFrom<unknown>("https://a.test/", "wss://a.test/", "+12025550100", "sip:a@b.test"),
  );

  test("gives what the schema takes, or says which field it doesn't: nothing else", () => {
    let actions = 0;
    fc.assert(
      fc.property(fc.constantFrom(play, stream, dial), first, options, (build, first, options) => {
        try {
          const action = build(first as never, options as never);
          expect(is(Action, action)).toBe(true);
          expect(JSON.parse(JSON.stringify(action))).toEqual(action);
          actions++;
        } catch (error) {
          if (!(error instanceof BadParametersException)) throw error;
          expect(error.issues.length).toBeGreaterThan(0);
        }
      }),
      { numRuns: 2000 },
    );
    expect(actions).toBeGreaterThan(50);
  });

  test("reads options that throw as wrong ones", () => {
    const options = {
      get flow_url(): string {
        throw new Error("MARKED");
      },
    };
    expect(() => play("https://a.test/", options)).toThrow(BadParametersException);
  });

  test("gives a new object each time", () => {
    expect(hangup()).not.toBe(hangup());
    const record = { record: false };
    const action = stream("wss://a.test/", record);
    record.record = true;
    expect(action).toEqual({ action: "stream", ws_url: "wss://a.test/", record: false });
  });
});

test("an action stays what was checked, whatever becomes of what it was made of", () => {
  const silence = { pause_ms: 1_000 };
  const prompts = ["Hello.", silence];
  const spoken = say(prompts);
  silence.pause_ms = 5;
  prompts.push("");
  expect(spoken.prompts).toEqual(["Hello.", { pause_ms: 1_000 }]);
  const others = [play("https://app.test/a.wav"), dial("+12025550100"), hangup()];
  for (const part of [spoken, spoken.prompts, spoken.prompts[1], ...others])
    expect(Object.isFrozen(part)).toBe(true);
});
