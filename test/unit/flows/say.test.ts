import fc from "fast-check";
import { is } from "valibot";
import { describe, expect, test } from "vitest";
import { BadParametersException } from "../../../src/errors.ts";
import { Action } from "../../../src/flows/actions.ts";
import { audio, pause } from "../../../src/flows/prompts.ts";
import { gather, say } from "../../../src/flows/say.ts";

const next = "https://app.test/flow";

/** What a builder refuses, as field and rule. */
const refusalOf = (build: () => unknown): string => {
  try {
    build();
  } catch (error) {
    if (!(error instanceof BadParametersException)) throw error;
    return error.issues.map(({ param, message }) => `${param} ${message}`).join("; ");
  }
  return "";
};

describe("say", () => {
  test("takes a text, audio, a pause, or a list of them, and what comes next", () => {
    expect(say("Hello.")).toEqual({ action: "say", prompts: ["Hello."] });
    expect(say(audio("https://app.test/a.mp3")).prompts).toEqual([
      { media_url: "https://app.test/a.mp3" },
    ]);
    const prompts = ["Hello.", pause(1000), audio("https://app.test/a.mp3")];
    expect(say(prompts, { language: "en-GB", next: "bye" })).toEqual({
      ...{ action: "say", language: "en-GB", next: "bye" },
      prompts: ["Hello.", { pause_ms: 1000 }, { media_url: "https://app.test/a.mp3" }],
    });
  });

  test.each<[unknown, string]>([
    ["", "must be a text of 1 to 1500 characters"],
    [" \n", "must be a text of 1 to 1500 characters"],
    ["x".repeat(1501), "must be a text of 1 to 1500 characters"],
    ["a\u0000", "must be without control characters"],
    ["a\u0085", "must be without control characters"],
    ["a\ud800", "must be without control characters"],
    ["a\uffff", "must be without control characters"],
    [" <SPEAK>MARKED</SPEAK>", "must not begin with <speak"],
    ["\u200b\ufeff<speak>MARKED</speak>", "must not begin with <speak"],
    [7, "must be a text, audio(url) or pause(ms)"],
    [{ text: "MARKED" }, "must be a text, audio(url) or pause(ms)"],
    [{ media_url: "MARKED" }, 'media_url must be an absolute URL: add "https://"'],
    [{ media_url: next, pause_ms: 1000 }, "must be a text, audio(url) or pause(ms)"],
    [{ pause_ms: 1500 }, "pause_ms must be 1000 to 180000 ms, in steps of 1000"],
    [{ pause_ms: 181_000 }, "pause_ms must be 1000 to 180000 ms, in steps of 1000"],
  ])("refuses the prompt %j, by its place and without its value", (prompt, rule) => {
    const refusal = refusalOf(() => say(["Hello.", prompt as string]));
    expect(refusal).toBe(`prompts number 2 ${rule}`);
  });

  test("takes 1 to 10 prompts, and texts of 1 to 1500 characters", () => {
    expect(refusalOf(() => say([]))).toBe("prompts must be 1 to 10 prompts");
    expect(refusalOf(() => say(Array(11).fill("x")))).toBe("prompts must be 1 to 10 prompts");
    expect(say(Array(10).fill("x".repeat(1500))).prompts).toHaveLength(10);
  });

  test.each<[object, string]>([
    [{ language: "English" }, "language must be a language tag, such as en-GB"],
    [{ language: 'en"/><Hangup/>' }, "language must be a language tag, such as en-GB"],
    [{ next: "" }, "next must be the name of a step"],
    [{ next: "bye", flow_url: next }, "flow_url must be left out with steps and as"],
    [{ voice: "alice" }, "voice is unknown"],
  ])("refuses the options %j", (options, rule) => {
    expect(refusalOf(() => say("Hello.", options))).toBe(rule);
  });

  test("audio and pause check their argument", () => {
    expect(refusalOf(() => audio("hello.wav"))).toBe(
      'media_url must be an absolute URL: add "https://"',
    );
    expect(refusalOf(() => pause(10))).toBe("pause_ms must be 1000 to 180000 ms, in steps of 1000");
  });
});

describe("gather", () => {
  test("takes what an answer is, and the step for each", () => {
    const options = {
      digits: 1,
      as: "reply",
      on: { 1: "confirm", "*": "menu" },
      tries: 3,
    } as const;
    expect(gather("Press 1.", options)).toEqual({
      ...{ action: "gather", prompts: ["Press 1."] },
      ...options,
    });
    expect(gather("Your number?", { finish_on_key: "#", next: "check", timeout_ms: 8000 })).toEqual(
      {
        ...{ action: "gather", prompts: ["Your number?"] },
        ...{ finish_on_key: "#", next: "check", timeout_ms: 8000 },
      },
    );
  });

  const one = { digits: 1, next: "next" };
  test.each<[object, string]>([
    [{ next: "a" }, "digits is missing, as are finish_on_key and speech"],
    [{ digits: 1 }, "on is missing, as are next, as and flow_url"],
    [{ ...one, on: { 1: "a" } }, "next must be left out with on"],
    [{ ...one, flow_url: next }, "flow_url must be left out with steps and as"],
    [{ digits: 1, flow_url: next, as: "a" }, "flow_url must be left out with steps and as"],
    [
      { speech: {}, on: { 1: "a" }, next: "b" },
      "on names keys, which need digits or finish_on_key",
    ],
    [{ digits: 1, speech: {}, on: { 1: "a" } }, "next is missing, the step for speech beside on"],
    [{ next: "a", speech: true }, "speech must be an object, not a boolean"],
    [
      { next: "a", speech: { language: "?" } },
      "speech.language must be a language tag, such as en-GB",
    ],
    [
      { next: "a", speech: { hints: [] } },
      expect.stringContaining("speech.hints must be 1 to 100"),
    ],
    [{ next: "a", speech: { hints: ["a,b"] } }, expect.stringContaining("without commas")],
    [{ next: "a", speech: { end_silence_ms: 500 } }, expect.stringContaining("in steps of 1000")],
    [{ next: "a", speech: { model: "x" } }, expect.stringContaining("speech.model is unknown")],
    [{ ...one, digits: 21 }, "digits must be a whole number from 1 to 20"],
    [{ ...one, digits: 1.5 }, "digits must be a whole number from 1 to 20"],
    [{ ...one, finish_on_key: "*" }, 'finish_on_key must be "#"'],
    [{ ...one, timeout_ms: 500 }, "timeout_ms must be 1000 to 10000 ms, in steps of 1000"],
    [{ ...one, timeout_ms: 11_000 }, "timeout_ms must be 1000 to 10000 ms, in steps of 1000"],
    [{ ...one, tries: 6 }, "tries must be a whole number from 1 to 5"],
    [{ ...one, as: "Reply" }, expect.stringContaining("as must match")],
    [{ ...one, as: "duration" }, expect.stringContaining("no column of the results")],
    [{ ...one, otherwise: "" }, "otherwise must be the name of a step"],
    [{ digits: 1, on: {} }, expect.stringContaining("on must name a step")],
    [{ digits: 1, on: { a: "b" } }, expect.stringContaining("on must name a step")],
    [{ digits: 1, on: { 12: "b" } }, "on names keys that digits and finish_on_key exclude"],
    [
      { digits: 2, finish_on_key: "#", on: { "1#": "b" } },
      "on names keys that digits and finish_on_key exclude",
    ],
  ])("refuses the options %j", (options, rule) => {
    expect(refusalOf(() => gather("Hello.", options as never))).toEqual(rule);
  });
});

test("a builder gives what the schema of an action takes, or names a field: nothing else", () => {
  const some = fc.option(fc.anything(), { nil: undefined });
  const mostly = <T>(valid: T, ...invalid: unknown[]) =>
    fc.oneof(
      { weight: 9, arbitrary: fc.constant<unknown>(valid) },
      { weight: 1, arbitrary: fc.oneof(some, fc.constantFrom(...invalid)) },
    );
  const prompt = fc.oneof(
    {
      weight: 9,
      arbitrary: fc.constantFrom<unknown>("a", { media_url: next }, { pause_ms: 1000 }),
    },
    { weight: 1, arbitrary: fc.oneof(some, fc.string()) },
  );
  const options = fc.record(
    {
      language: mostly("en", "x"),
      digits: mostly(2, 0, "1"),
      finish_on_key: mostly("#", "*"),
      timeout_ms: mostly(1000, 1),
      as: mostly("reply", "id"),
      on: mostly({ 1: "a" }, { x: "a" }, { 1: "" }),
      tries: mostly(2, 9),
      next: mostly("a", 1),
      otherwise: mostly("b", ""),
      flow_url: mostly(next, "x"),
    },
    { requiredKeys: [] },
  );
  let built = 0;
  fc.assert(
    fc.property(
      fc.constantFrom(say, gather),
      fc.oneof(prompt, fc.array(prompt, { maxLength: 3 })),
      fc.oneof({ weight: 9, arbitrary: options }, { weight: 1, arbitrary: some }),
      (build, prompts, given) => {
        try {
          const action = build(prompts as never, given as never);
          expect(is(Action, action)).toBe(true);
          expect(JSON.parse(JSON.stringify(action))).toEqual(action);
          built++;
        } catch (error) {
          if (!(error instanceof BadParametersException)) throw error;
          expect(error.issues.length).toBeGreaterThan(0);
        }
      },
    ),
    { numRuns: 3000 },
  );
  expect(built).toBeGreaterThan(20);
});
