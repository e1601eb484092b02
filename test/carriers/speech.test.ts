import { describe, expect, it } from "vitest";
import type { CalleeAct } from "../../src/emulator/index.ts";
import { follow } from "../vonage/stage.ts";
import { markupCarriers } from "./carriers.ts";
import { followDocument, hangup } from "./markup.ts";
import { talkOf, verbsOf } from "./stage.ts";

/** A callee who says a text at a time, for a second. */
const says = (...texts: readonly (readonly [at: number, text: string])[]): CalleeAct[] =>
  texts.flatMap(([ms, text]) => [
    { type: "until", ms },
    { type: "say", ms: 1_000, text },
  ]);

const words: CalleeAct[] = says([2_000, "yes please"]);

/** What was said, by when its request came, in milliseconds since the answer. */
const spoken = { SpeechResult: "yes please", Confidence: "0.9" };

describe.each(markupCarriers)("$name: a Gather", (carrier) => {
  const gather = async (attributes: string, callee: CalleeAct[], children = "") => {
    const document = `<Response><Gather ${attributes} action="/said">${children}</Gather><Say>None</Say></Response>`;
    const one = await followDocument(carrier, document, { callee, answers: { "/said": hangup } });
    return { ...one, said: one.at("/said"), ms: talkOf(one.call) };
  };

  it.each(["speech", "dtmf speech"])("of %s gets what the callee says", async (input) => {
    const { said, ms } = await gather(`input="${input}" speechTimeout="2"`, words);
    expect(said).toMatchObject([spoken]);
    expect(said[0]).not.toHaveProperty("Digits");
    expect(ms).toBe(5_000);
  });

  it("of dtmf gets keys alone", async () => {
    const acts: CalleeAct[] = [...words, { type: "press", digits: "1" }];
    const { said } = await gather('input="dtmf" numDigits="1"', acts);
    expect(said).toMatchObject([{ Digits: "1" }]);
    expect(said[0]).not.toHaveProperty("SpeechResult");
  });

  it("of both takes what comes first: then the other is none", async () => {
    const keys: CalleeAct[] = [{ type: "press", digits: "1" }];
    const first = await gather('input="dtmf speech" numDigits="2"', [...keys, ...words]);
    expect(first.said).toMatchObject([{ Digits: "1" }]);
    const second = await gather('input="dtmf speech" numDigits="1"', [...words, ...keys]);
    expect(second.said).toMatchObject([spoken]);
  });

  it("without speech continues with the next verb after its timeout", async () => {
    const { said, call, ms } = await gather('input="speech" timeout="3"', []);
    expect([said, verbsOf(call), ms]).toEqual([[], ["Gather", "Say 500"], 3_500]);
  });

  it("joins what is said before a silence of speechTimeout", async () => {
    const callee = says([500, "one"], [2_000, "two"], [9_000, "late"]);
    const { said, ms } = await gather('input="speech" speechTimeout="3"', callee);
    expect([said, ms]).toMatchObject([[{ SpeechResult: "one two" }], 6_000]);
  });

  it("is interrupted in its prompts by speech", async () => {
    const prompt = `<Say>${"a".repeat(100)}</Say><Say>more</Say>`;
    const { said, call, ms } = await gather('input="speech" speechTimeout="1"', words, prompt);
    expect(said).toMatchObject([spoken]);
    expect([verbsOf(call), ms]).toEqual([["Gather", "Say 6500", "Hangup"], 4_000]);
  });

  it("hears nothing that began before it", async () => {
    const document = `<Response><Say>${"a".repeat(40)}</Say><Gather input="speech" timeout="2" action="/said"/></Response>`;
    const { at } = await followDocument(carrier, document, { callee: words });
    expect(at("/said")).toEqual([]);
  });

  it("has the confidence that the script gives", async () => {
    const act: CalleeAct = { type: "say", ms: 500, text: "maybe", confidence: 0.31 };
    const { said } = await gather('input="speech"', [act]);
    expect(said).toMatchObject([{ SpeechResult: "maybe", Confidence: "0.31" }]);
  });

  it("with another input ends the call by name", async () => {
    const { call } = await gather('input="eyes"', []);
    expect(call.flow_error).toBe("step 1: Gather.input must be dtmf, speech or dtmf speech");
  });
});

it("silence after speech: Twilio waits for its timeout by default, a second with auto, and Telnyx that second", async () => {
  const durations = markupCarriers.flatMap((carrier) =>
    ["", 'speechTimeout="auto"'].map(async (attribute) => {
      const document = `<Response><Gather input="speech" ${attribute} action="/said"/></Response>`;
      const answers = { "/said": hangup };
      const { call } = await followDocument(carrier, document, { callee: words, answers });
      return [carrier.name, talkOf(call)];
    }),
  );
  expect(await Promise.all(durations)).toEqual([
    ["twilio", 8_000],
    ["twilio", 4_000],
    ["telnyx", 4_000],
    ["telnyx", 4_000],
  ]);
});

describe("Vonage: an input", () => {
  const input = async (fields: object, callee: CalleeAct[], before: readonly object[] = []) => {
    const ncco = [...before, { action: "input", eventUrl: ["/said"], ...fields }];
    const one = await follow(ncco, { callee, answers: { "/said": [] } });
    return { ...one, said: one.at("/said"), ms: talkOf(one.call) };
  };

  it("of speech has its results, and why it ended", async () => {
    const { said, ms } = await input({ type: ["speech"] }, words);
    const results = [{ confidence: "0.9", text: "yes please" }];
    const speech = { timeout_reason: "end_on_silence_timeout", results };
    expect(said).toMatchObject([{ speech, dtmf: { digits: null, timed_out: false } }]);
    expect(ms).toBe(5_000);
  });

  it("of speech ends at maxDuration, and at startTimeout where nobody speaks", async () => {
    const long: CalleeAct[] = [{ type: "say", ms: 9_000, text: "on and on" }];
    const speech = { maxDuration: 4, startTimeout: 2 };
    const { said, ms } = await input({ type: ["speech"], speech }, long);
    expect([said, ms]).toMatchObject([[{ speech: { timeout_reason: "max_duration" } }], 4_000]);
    const silent = await input({ type: ["speech"], speech }, []);
    const nothing = { timeout_reason: "start_timeout", results: [] };
    expect([silent.said, silent.ms]).toMatchObject([[{ speech: nothing }], 2_000]);
  });

  it("of both takes what comes first", async () => {
    const type = ["dtmf", "speech"];
    const keys: CalleeAct[] = [{ type: "press", digits: "1" }];
    const { said } = await input({ type, dtmf: { maxDigits: 2 } }, [...keys, ...words]);
    expect(said).toMatchObject([{ speech: { results: [] }, dtmf: { digits: "1" } }]);
    const second = await input({ type }, [...words, ...keys]);
    const dtmf = { digits: null, timed_out: false };
    expect(second.said).toMatchObject([{ speech: { results: [{ text: "yes please" }] }, dtmf }]);
  });

  it("gets what interrupted the talk before it, if it takes speech", async () => {
    const talk = [{ action: "talk", text: "a".repeat(100), bargeIn: true }];
    const { said, ms } = await input({ type: ["speech"] }, words, talk);
    expect([said, ms]).toMatchObject([[{ speech: { results: [{ text: "yes please" }] } }], 5_000]);
    const deaf = await input({ type: ["dtmf"] }, words, talk);
    expect([deaf.said, deaf.ms]).toMatchObject([[{ dtmf: { digits: "" } }], 9_500]);
  });

  it.each([
    [{ type: ["eyes"] }, "input.type must be a list of dtmf and speech"],
    [
      { type: ["speech"], speech: { endOnSilence: 11 } },
      "input.speech.endOnSilence must be from 0.4 to 10",
    ],
  ])("of %j ends the call by name", async (fields, rule) => {
    const { call } = await input(fields, []);
    expect(call.flow_error).toBe(`step 1: ${rule}`);
  });
});

describe("an act that says a text", () => {
  it.each([
    [{ text: " " }, "text must have 1 to 4000 characters"],
    [{ text: "a".repeat(4_001) }, "text must have 1 to 4000 characters"],
    [{ text: "a", confidence: 2 }, "confidence must be 0 to 1"],
    [{ text: "a", ms: -1 }, "ms must be 0 or more"],
  ])("%# breaks a rule", async (fields, rule) => {
    const act = { type: "say", ms: 100, ...fields } as CalleeAct;
    const { call } = await follow([{ action: "input" }], { callee: [act] });
    expect(call.history).toContainEqual(
      expect.objectContaining({ type: "error", source: "callee", message: rule }),
    );
  });

  it("is in the history, and sounds as long as it lasts", async () => {
    const { call, emulator } = await follow([{ action: "input", type: ["speech"] }], {
      callee: words,
    });
    const entry = call.history.find(({ type }) => type === "say");
    expect(entry).toMatchObject({ text: "yes please", duration: 1_000 });
    const peaks = emulator
      .audio(call.id)
      ?.peaks("callee", 1_000)
      .map((peak) => peak > 0);
    expect(peaks).toEqual([false, false, true, false, false]);
  });
});
