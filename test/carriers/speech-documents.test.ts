import { NCCOBuilder } from "@vonage/voice";
import fc from "fast-check";
import VoiceResponse from "twilio/lib/twiml/VoiceResponse.js";
import { describe, expect, test } from "vitest";
import { texmlOf } from "../../src/carriers/telnyx/texml.ts";
import { twimlOf } from "../../src/carriers/twilio/twiml.ts";
import { nccoOf } from "../../src/carriers/vonage/ncco.ts";
import { BadParametersException } from "../../src/errors.ts";
import type { AnyAction } from "../../src/flows/actions.ts";
import type { Prompt } from "../../src/flows/prompts.ts";
import type { Gather, Say } from "../../src/flows/say.ts";
import { type Parsed, parse } from "../unit/carriers/xml.ts";
import vectors from "./speech-vectors.json" with { type: "json" };

const call = {
  call_id: "aaaaaaaa-bbbb-cccc-dddd-0123456789ab",
  from_number: "+12025550199",
  to_number: "+12025550100",
};

type Spoken = Say<string> | Gather<string>;

/** An element without the order of its attributes. */
const canonical = ({ name, attributes, children, text }: Parsed): unknown => ({
  ...{ name, text: children.length ? "" : text },
  attributes: Object.fromEntries(Object.entries(attributes).sort()),
  children: children.map(canonical),
});

describe.each(vectors.map((vector) => [vector.name, vector] as const))("%s", (_, vector) => {
  const action = vector.action as AnyAction;
  test("is what Twilio's own builder prints", () => expect(twimlOf(action)).toBe(vector.twiml));

  test("is what Telnyx documents", () =>
    expect(canonical(parse(texmlOf(action)))).toEqual(canonical(parse(vector.texml))));

  test("is what Vonage's own builder gives", () =>
    expect(nccoOf(action, call, undefined)).toEqual(vector.ncco));
});

const language = fc.constantFrom(undefined, "en-GB", "de", "pt-BR", "zh-Hant-TW");

/** Texts with all that could be markup, SSML or a template; those that are refused are left out. */
const text = fc
  .oneof(
    fc.string({ unit: "grapheme", minLength: 1, maxLength: 30 }),
    fc
      .array(
        fc.constantFrom(
          ...["</Say><Hangup/>", "]]>", "<![CDATA[", "&amp;", "&#60;", '"', "'", "<!--", "\r\n"],
          ...["<break time='1s'/>", "{", "}", "é😀", "\t", "<?xml?>", "<speak>", "a"],
        ),
        { minLength: 1, maxLength: 8 },
      )
      .map((parts) => parts.join("")),
  )
  .filter((one) => !!one.trim() && !/^\s*<speak|[^\P{Cc}\t\n\r]|[\ufffe\uffff]|\{\{/iu.test(one));

const prompt = fc.oneof(
  { weight: 3, arbitrary: text },
  fc.webUrl({ withQueryParameters: true, validSchemes: ["https"] }).map((url) => ({
    media_url: new URL(url).href,
  })),
  fc.integer({ min: 1, max: 180 }).map((seconds) => ({ pause_ms: seconds * 1000 })),
);

const url = fc
  .webUrl({ withQueryParameters: true, validSchemes: ["https"] })
  .map((one) => new URL(one).href)
  .filter((one) => !one.includes("{{"));

const prompts = fc.array(prompt, { minLength: 1, maxLength: 10 });

const spoken = fc.record({
  language,
  hints: fc.option(fc.array(fc.constantFrom("yes", "no <b>", '"'), { minLength: 1 }), {
    nil: undefined,
  }),
  end_silence_ms: fc.constantFrom(undefined, 1_000, 10_000),
});

const flow: fc.Arbitrary<Spoken> = fc.oneof(
  fc.record({
    action: fc.constant("say" as const),
    prompts,
    language,
    flow_url: fc.option(url, { nil: undefined }),
  }),
  fc.record({
    action: fc.constant("gather" as const),
    prompts,
    language,
    digits: fc.constantFrom(...([1, 2, 3, 5, 8, 13, 20] as const), undefined),
    finish_on_key: fc.constantFrom("#" as const, undefined),
    speech: fc.option(spoken, { nil: undefined }),
    timeout_ms: fc.option(
      fc.integer({ min: 1, max: 10 }).map((seconds) => seconds * 1000),
      { nil: undefined },
    ),
    flow_url: url,
  }),
);

const runs = { numRuns: 1000 };

const post = { method: "POST" };

/** Adds prompts by Twilio's own builder. */
const addTo = (
  parent: VoiceResponse | ReturnType<VoiceResponse["gather"]>,
  list: readonly Prompt[],
  speech: object,
): void => {
  for (const one of list) {
    if (typeof one === "string") parent.say(speech as never, one);
    else if ("media_url" in one) parent.play(one.media_url);
    else parent.pause({ length: one.pause_ms / 1000 });
  }
};

const twilioBuilt = (action: Spoken, speech: object, gathersPauses: boolean): string => {
  const response = new VoiceResponse();
  const lastPause = action.prompts.findLastIndex(
    (one) => typeof one === "object" && "pause_ms" in one,
  );
  const from = action.action === "say" ? action.prompts.length : gathersPauses ? 0 : lastPause + 1;
  addTo(response, action.prompts.slice(0, from), speech);
  if (action.action === "gather") {
    const { speech: said, digits, finish_on_key } = action;
    const takesKeys = digits || finish_on_key;
    const spokenLanguage = said && (said.language ?? action.language);
    const gathered = response.gather({
      input: [takesKeys && "dtmf", said && "speech"].filter(Boolean).join(" ") as never,
      ...(takesKeys && { numDigits: digits ?? 20 }),
      ...(spokenLanguage && { language: spokenLanguage as never }),
      ...(said?.hints && { hints: said.hints.join(", ") }),
      ...(said && { speechTimeout: String((said.end_silence_ms ?? 2000) / 1000) }),
      timeout: (action.timeout_ms ?? 5000) / 1000,
      ...(takesKeys && { finishOnKey: finish_on_key ?? "" }),
      action: action.flow_url ?? "",
      ...post,
    });
    addTo(gathered, action.prompts.slice(from), speech);
  }
  if (action.flow_url) response.redirect(post, action.flow_url);
  else response.hangup();
  return response.toString();
};

test("1,000 random flows as TwiML are what Twilio's own builder prints, character for character", () => {
  fc.assert(
    fc.property(flow, (action) => {
      const speech = action.language ? { language: action.language } : {};
      expect(twimlOf(action)).toBe(twilioBuilt(action, speech, true));
    }),
    runs,
  );
});

test("1,000 random flows as TeXML: the same verbs, voice alice with a language, no pause in a Gather", () => {
  fc.assert(
    fc.property(flow, (action) => {
      const speech = action.language ? { voice: "alice", language: action.language } : {};
      expect(texmlOf(action)).toBe(twilioBuilt(action, speech, false));
    }),
    runs,
  );
});

/** The kind of a prompt on Vonage. */
const kindOf = (one: Prompt): string =>
  typeof one === "string" ? "talk" : "media_url" in one ? "stream" : "wait";

const vonageBuilt = (action: Spoken): unknown => {
  const builder = new NCCOBuilder();
  const add = (instruction: object) => builder.addAction(instruction as never);
  const last = action.prompts.at(-1);
  const broken = action.prompts.findLastIndex((one) => !last || kindOf(one) !== kindOf(last));
  for (const [at, one] of action.prompts.entries()) {
    const bargeIn = action.action === "gather" && at > broken && { bargeIn: true };
    if (typeof one === "string") {
      const spoken = action.language && { language: action.language };
      add({ action: "talk", text: one, ...bargeIn, ...spoken });
    } else if ("media_url" in one)
      add({ action: "stream", streamUrl: [one.media_url], ...bargeIn });
    else add({ action: "wait", timeout: one.pause_ms / 1000 });
  }
  const events = { eventUrl: [action.flow_url], eventMethod: "POST" };
  if (action.action === "gather") {
    const { speech: said, digits, finish_on_key, timeout_ms = 5000 } = action;
    const takesKeys = digits || finish_on_key;
    const seconds = timeout_ms / 1000;
    const spokenLanguage = said && (said.language ?? action.language);
    add({
      ...{ action: "input", type: [takesKeys && "dtmf", said && "speech"].filter(Boolean) },
      ...(takesKeys && {
        dtmf: {
          ...{ maxDigits: digits ?? 20, timeOut: seconds },
          ...(finish_on_key && { submitOnHash: true }),
        },
      }),
      ...(said && {
        speech: {
          ...(spokenLanguage && { language: spokenLanguage }),
          ...(said.hints && { context: said.hints }),
          ...{ endOnSilence: (said.end_silence_ms ?? 2000) / 1000, startTimeout: seconds },
        },
      }),
      ...events,
    });
  } else if (action.flow_url) {
    const payload = { uuid: call.call_id, from: "12025550199", to: "12025550100" };
    add({ action: "notify", payload, ...events });
  }
  return builder.build();
};

test("1,000 random flows as NCCO are what Vonage's own builder gives", () => {
  fc.assert(
    fc.property(flow, (action) => {
      const ncco = nccoOf(action, call, undefined);
      expect(JSON.parse(JSON.stringify(ncco))).toEqual(
        JSON.parse(JSON.stringify(vonageBuilt(action))),
      );
      // Vonage: what follows a prompt with bargeIn is of its kind, or an input.
      for (const [at, { action: name, bargeIn }] of ncco.entries()) {
        if (bargeIn) expect([name, "input"]).toContain(ncco[at + 1]?.action);
      }
    }),
    runs,
  );
});

test("a template is refused by name on Telnyx, in any prompt", () => {
  const hostile: Spoken = { action: "say", prompts: ["Hello.", "{{name}}"] };
  expect(() => texmlOf(hostile)).toThrow(BadParametersException);
  expect(() => texmlOf(hostile)).toThrow("prompts.1 must be without {{");
  const played: Spoken = { action: "say", prompts: [{ media_url: "https://app.test/{{x}}" }] };
  expect(() => texmlOf(played)).toThrow("prompts.0.media_url must be without {{");
});
