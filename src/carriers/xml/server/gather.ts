import {
  endlessLoops,
  type InputRules,
  type Prompts,
  type Taken,
} from "../../../performer/instructions.ts";
import type { Part } from "../../../performer/line.ts";
import {
  actionOf,
  attributeOf,
  beginning,
  fail,
  notEmulated,
  numberOf,
  type Request,
  requestAfter,
  requested,
  resolve,
  type Verb,
  type VerbContext,
} from "./context.ts";
import type { MarkupElement } from "./document.ts";
import { formRequest } from "./requests.ts";

/** The verbs that speak before keys are taken. */
const prompts: ReadonlySet<string> = new Set(["Say", "Play", "Pause"]);

/** Whether a verb speaks before keys are taken. */
const isPrompt = (verb: string): boolean => prompts.has(verb);

/** The verbs that end the prompts before them, and their own, themselves. */
const takers: ReadonlySet<string> = new Set(["Gather", "Record"]);

/** Milliseconds of each digit that is played. */
const digitDuration = 500;

/** Where the audio of a Play is. */
const mediaOf = (text: string, context: VerbContext): Part => {
  const { step, carrier } = context;
  const { url, headers, fields, body } = formRequest(resolve(context, "Play", text), "GET", {});
  const signed = async () => ({ ...headers, ...(await carrier.sign({ url, fields, body })) });
  return {
    type: "media",
    source: {
      step,
      field: "Play",
      url,
      headers: carrier.alsoSigns.has("media") ? signed : () => headers,
      code: carrier.codes.media,
    },
  };
};

const partOf = ({ name, text, attributes }: MarkupElement, context: VerbContext): Part => {
  if (name === "Say") {
    const rule = context.carrier.spokenRule?.(text);
    if (rule !== undefined) return fail(context, name, rule, "text");
    return { type: "text", text, language: attributes.language };
  }
  const { digits, mediaStorage } = attributes;
  if (digits) return { type: "keys", keys: digits, keyMs: digitDuration };
  if (mediaStorage === "true") return notEmulated(context, "Play.mediaStorage");
  return mediaOf(text, context);
};

/** What a Say, a Play or a Pause plays. */
const promptsOf = (element: MarkupElement, context: VerbContext): Prompts => {
  const step = beginning(element, context);
  if (element.name === "Pause") {
    const ms = numberOf(element, "length", context, 1) * 1_000;
    return { step, parts: [{ type: "pause", ms }] };
  }
  const times = numberOf(element, "loop", context, 1) || endlessLoops;
  return { step, parts: [partOf(element, context)], times };
};

/** A Say, a Play or a Pause that is in no Gather. */
export const prompt: Verb = (element, context, follower = "") => ({
  type: "play",
  ...promptsOf(element, context),
  endsPrompts: !isPrompt(follower) && !takers.has(follower),
});

/** The longest silence in speech with `speechTimeout="auto"`, in milliseconds: the carriers don't say how long it is. */
export const autoSilence = 1_000;

/** The longest speech by default, in seconds. */
const longestSpeech = 60;

const rulesOf = (element: MarkupElement, context: VerbContext): InputRules => {
  const kinds = (attributeOf(element, "input", context) ?? "dtmf").split(" ");
  const timeout = numberOf(element, "timeout", context, 5) * 1_000;
  const seconds = attributeOf(element, "speechTimeout", context);
  const silence = seconds === "auto" ? autoSilence : context.carrier.silenceAfterSpeech(timeout);
  const maxDigits = numberOf(element, "maxDigits", context, Number.POSITIVE_INFINITY);
  return {
    takesKeys: kinds.includes("dtmf"),
    takesSpeech: kinds.includes("speech"),
    maxKeys: numberOf(element, "numDigits", context, maxDigits),
    finishingKeys: attributeOf(element, "finishOnKey", context) ?? "#",
    firstTimeout: timeout,
    keyTimeout: timeout,
    endSilence: numberOf(element, "speechTimeout", context, silence / 1_000) * 1_000,
    maxSpeech: numberOf(element, "maxSpeechTime", context, longestSpeech) * 1_000,
  };
};

/** The prompts in a Gather. */
function* promptsIn(element: MarkupElement, context: VerbContext): Generator<Prompts> {
  for (const child of element.children) {
    if (!isPrompt(child.name)) notEmulated(context, `Gather.${child.name}`);
    yield promptsOf(child, context);
  }
}

/** The request after a Gather; none where nothing came, or what came isn't valid. */
const requestWith = (
  { keys, finishedBy, speech }: Taken,
  element: MarkupElement,
  context: VerbContext,
  takesKeys: boolean,
): Request | undefined => {
  if (!speech.isEmpty) {
    const { text, confidence } = speech;
    const fields = { SpeechResult: text, Confidence: String(confidence) };
    return requestAfter(element, context, fields);
  }
  const isReported = attributeOf(element, "actionOnEmptyResult", context) === "true";
  if (keys === "" && finishedBy === undefined && !isReported) return;
  const fields = takesKeys ? context.carrier.gatherFields(keys, finishedBy ?? "") : {};
  const valid = attributeOf(element, "validDigits", context);
  const isValid =
    keys.length >= numberOf(element, "minDigits", context, 0) &&
    [...keys].every((key) => valid?.includes(key) ?? true);
  if (!isValid) return actionOf(element, context, fields, "invalidDigitsAction");
  return requestAfter(element, context, fields);
};

/** Prompts, and takes keys or speech. */
export const gather: Verb = (element, context) => {
  const rules = rulesOf(element, context);
  if (!rules.takesKeys && !rules.takesSpeech) {
    return fail(context, "Gather.input", "must be dtmf, speech or dtmf speech");
  }
  return {
    type: "input",
    step: beginning(element, context),
    prompts: promptsIn(element, context),
    bargesIn: attributeOf(element, "bargeIn", context) !== "false",
    rules,
    next: (taken) => requested(requestWith(taken, element, context, rules.takesKeys)),
  };
};
