import type { InputRules, Prompts, Taken } from "../../../performer/instructions.ts";
import {
  actionOf,
  attributeOf,
  beginning,
  fail,
  numberOf,
  type Request,
  requestAfter,
  requested,
  type Verb,
  type VerbContext,
} from "./context.ts";
import type { MarkupElement } from "./document.ts";
import { notEmulated } from "./not-emulated.ts";
import { isPrompt, promptsOf } from "./prompts.ts";

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
