import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { texmlOf } from "../../src/carriers/telnyx/texml.ts";
import { twimlOf } from "../../src/carriers/twilio/twiml.ts";
import { nccoOf } from "../../src/carriers/vonage/ncco.ts";
import type { CalleeAct } from "../../src/emulator/index.ts";
import { BadParametersException } from "../../src/errors.ts";
import type { StepInput } from "../../src/flows/flow-state.ts";
import { gather, say } from "../../src/flows/say.ts";
import { spokenIn as spokenText } from "../../src/flows/speech.ts";
import { parse } from "../unit/carriers/xml.ts";
import { converse, key, type Program, services, spokenIn } from "./conversations.ts";

const carriers = services.filter(({ name }) => name !== "own");

const says = (text: string, confidence?: number): readonly CalleeAct[] => [
  { type: "until-prompt" },
  { type: "say", ms: 900, text, confidence },
];

/** A survey by voice, and what `onInput` got. */
const survey = () => {
  const given: Pick<StepInput, "answers" | "digits" | "speech">[] = [];
  const speech = { language: "en-GB", hints: ["good", "bad"], end_silence_ms: 1_000 };
  const program: Program<"price" | "thanks"> = {
    onInput: ({ answers, digits, speech: spoken }) =>
      void given.push({ answers, digits, ...(spoken && { speech: spoken }) }),
    onAnswer: () => gather("How was your visit?", { speech, as: "visit", next: "price" }),
    steps: {
      price: () =>
        gather("And the price, from 1 to 5?", {
          ...{ digits: 1, speech: {}, as: "price" },
          ...{ on: { 1: "thanks", 5: "thanks" }, next: "thanks", tries: 2 },
        }),
      thanks: ({ answers }) => say(`Thank you for ${answers.visit} and ${answers.price}.`),
    },
  };
  return { given, program };
};

describe.each(carriers)("$name: a survey by voice", (service) => {
  it("has what was said, and how sure the carrier is of it", async () => {
    const { given, program } = survey();
    const callee = [...says("quite good", 0.75), ...says("too high")];
    const { call, onError } = await converse(service, program, callee);
    expect(onError).not.toHaveBeenCalled();
    expect(spokenIn(call).at(-1)).toBe("Thank you for quite good and too high.");
    const visit = "quite good";
    expect(given).toEqual([
      { answers: { visit }, digits: "", speech: { text: visit, confidence: 0.75 } },
      {
        answers: { visit, price: "too high" },
        digits: "",
        speech: { text: "too high", confidence: 0.9 },
      },
    ]);
  });

  it("takes keys beside speech, by their own steps; a wrong key asks again", async () => {
    const { given, program } = survey();
    const { call } = await converse(service, program, [...says("fine"), ...key("3"), ...key("5")]);
    expect(given.at(-1)).toEqual({ answers: { visit: "fine", price: "5" }, digits: "5" });
    expect(spokenIn(call).at(-1)).toBe("Thank you for fine and 5.");
  });

  it("gets no key where it takes speech alone, and silence is no answer", async () => {
    const { given, program } = survey();
    const { call } = await converse(service, program, key("5"));
    expect([given, call.reason]).toEqual([[], "normal"]);
  });

  it("keeps 64 bytes of an answer in the URL, in whole characters, and onInput gets all of it", async () => {
    const { given, program } = survey();
    const text = "😀".repeat(100);
    const { urls, onError } = await converse(service, program, [...says(text), ...key("1")]);
    expect(onError).not.toHaveBeenCalled();
    expect(given[0]).toMatchObject({ answers: { visit: "😀".repeat(16) }, speech: { text } });
    expect(Math.max(...urls.map((url) => url.length))).toBeLessThan(1_200);
  });
});

it("outdial's own interface refuses speech by name, and the call ends", async () => {
  const [own] = services;
  if (!own) throw new Error("no service");
  const { onError, call } = await converse(own, survey().program, says("good"));
  expect(onError).toHaveBeenCalledTimes(1);
  expect(onError.mock.calls[0]?.[0]).toMatchObject({
    issues: [
      {
        param: "speech",
        message: "must be left out: outdial's own interface takes keys alone",
      },
    ],
  });
  expect(spokenIn(call)).toEqual([]);
});

/** What somebody could say so that a transcript of it is markup, a template or a header. */
const hostile = [
  ...["</Say><Hangup/>", "<speak><break/></speak>", "{{Digits}}", "]]>", "<![CDATA[", "&lt;"],
  ...['"', "'", "\r\nLocation: https://evil.test\r\n", "\u0000", "\ud800", "\uffff", "%0d%0a"],
  ...["=", "&SpeechResult=", "<?xml?>", "yes", " ", "😀"],
];

const words = fc
  .array(fc.oneof(fc.constantFrom(...hostile), fc.string({ unit: "binary", maxLength: 8 })), {
    maxLength: 8,
  })
  .map((parts) => parts.join(""));

const call = { call_id: "1", from_number: "+12025550199", to_number: "+12025550100" };

it("no words of a callee are markup or a template: a step that repeats them says them, or is refused", () => {
  const saidBy = (text: string, print: (action: ReturnType<typeof say>) => unknown): unknown => {
    try {
      return print(say(text));
    } catch (error) {
      if (error instanceof BadParametersException) return undefined;
      throw error;
    }
  };
  const inXml = (xml: string): unknown => {
    const [spoken, ...others] = parse(xml).children;
    return others.length === 1 && others[0]?.name === "Hangup" && spoken?.children.length === 0
      ? [spoken.name, spoken.text]
      : xml;
  };
  fc.assert(
    fc.property(words, (given) => {
      const spoken = spokenText({ text: given, confidence: "0.5" });
      if (!spoken) return;
      const { text } = spoken;
      expect(text).not.toMatch(/[\p{Cc}\p{Cs}]/u);
      const twilio = saidBy(text, (action) => inXml(twimlOf(action)));
      const vonage = saidBy(text, (action) => nccoOf(action, call, undefined));
      const telnyx = saidBy(text, (action) => inXml(texmlOf(action)));
      const isRefused = /^[\s\p{Cf}]*<speak/iu.test(text) || text.length > 1_500;
      expect(twilio).toEqual(isRefused ? undefined : ["Say", text]);
      expect(vonage).toEqual(isRefused ? undefined : [{ action: "talk", text }]);
      expect(telnyx).toEqual(isRefused || text.includes("{{") ? undefined : ["Say", text]);
    }),
    { numRuns: 1_000 },
  );
});

describe.each(carriers)("$name: words of a callee", (service) => {
  it("are in no URL and no header, as they were said or encoded", async () => {
    const text = "MARKED\r\nX-Marked: <b>{";
    const { program } = survey();
    const {
      requests,
      onError,
      call: record,
    } = await converse(service, program, [...says(text), ...key("1")]);
    expect(onError).not.toHaveBeenCalled();
    const seen = requests.flatMap(({ url, headers }) => [url, ...[...headers].flat()]);
    expect(decodeURIComponent(seen.join()).toLowerCase()).not.toContain("marked");
    expect(spokenIn(record).at(-1)).toBe("Thank you for MARKED X-Marked: <b>{ and 1.");
  });
});
