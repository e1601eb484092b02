import { waitUntil } from "../line.ts";
import { type Utterance, Utterances } from "../utterances.ts";
import { notEmulated } from "./absent.ts";
import {
  actionOf,
  attributeOf,
  begin,
  fail,
  numberOf,
  requestAfter,
  type Verb,
  type VerbContext,
} from "./context.ts";
import type { MarkupElement } from "./document.ts";
import { prompt } from "./prompts.ts";
import type { Fields } from "./requests.ts";

/** The digits that a Gather takes. */
class Digits {
  readonly #max: number;
  readonly #min: number;
  readonly #valid: string | undefined;
  readonly #finishOnKey: string;
  text = "";
  finishedBy: string | undefined;
  /** How many keys were pressed. */
  count = 0;

  constructor(element: MarkupElement, context: VerbContext) {
    const maxDigits = numberOf(element, "maxDigits", context, Number.POSITIVE_INFINITY);
    this.#max = numberOf(element, "numDigits", context, maxDigits);
    this.#min = numberOf(element, "minDigits", context, 0);
    this.#valid = attributeOf(element, "validDigits", context);
    this.#finishOnKey = attributeOf(element, "finishOnKey", context) ?? "#";
  }

  get isComplete(): boolean {
    return this.finishedBy !== undefined || this.text.length >= this.#max;
  }

  get isEmpty(): boolean {
    return this.text === "" && this.finishedBy === undefined;
  }

  /** Whether there are enough, and no others than the verb takes. */
  get isValid(): boolean {
    const digits = [...this.text];
    return (
      digits.length >= this.#min && digits.every((each) => this.#valid?.includes(each) ?? true)
    );
  }

  press(digit: string): void {
    if (this.isComplete) return;
    this.count++;
    if (this.#finishOnKey.includes(digit)) this.finishedBy = digit;
    else this.text += digit;
  }
}

/** The longest silence in speech with `speechTimeout="auto"`, in milliseconds: the carriers don't say how long it is. */
export const autoSilence = 1_000;

/** The longest speech by default, in seconds. */
const longestSpeech = 60;

/** How long a Gather waits for what, in milliseconds. */
interface Timeouts {
  /** Of the first input, and between keys. */
  readonly input: number;
  /** Of silence after speech. */
  readonly silence: number;
  /** Of speech. */
  readonly speech: number;
}

const timeoutsOf = (element: MarkupElement, context: VerbContext): Timeouts => {
  const input = numberOf(element, "timeout", context, 5) * 1_000;
  const seconds = attributeOf(element, "speechTimeout", context);
  const missing = seconds === "auto" ? autoSilence : context.carrier.silenceAfterSpeech(input);
  return {
    input,
    silence: numberOf(element, "speechTimeout", context, missing / 1_000) * 1_000,
    speech: numberOf(element, "maxSpeechTime", context, longestSpeech) * 1_000,
  };
};

/** What comes in while a Gather runs: keys, or speech where it came first. */
class Input {
  readonly takesKeys: boolean;
  readonly takesSpeech: boolean;
  readonly digits: Digits;
  readonly utterances: Utterances = new Utterances();

  constructor(element: MarkupElement, context: VerbContext) {
    const kinds = (attributeOf(element, "input", context) ?? "dtmf").split(" ");
    this.takesKeys = kinds.includes("dtmf");
    this.takesSpeech = kinds.includes("speech");
    this.digits = new Digits(element, context);
  }

  /** How many keys and utterances there are. */
  get count(): number {
    return this.digits.count + this.utterances.count;
  }

  press(digit: string): void {
    if (this.takesKeys && this.utterances.isEmpty) this.digits.press(digit);
  }

  addUtterance(utterance: Utterance): void {
    if (this.takesSpeech && this.digits.count === 0) this.utterances.add(utterance);
  }

  /** When it is complete unless something else comes in before, in milliseconds since the answer. */
  deadline(now: number, { input, silence, speech }: Timeouts): number {
    const { utterances } = this;
    return utterances.isEmpty
      ? now + input
      : Math.min(utterances.to + silence, utterances.from + speech);
  }
}

/** Takes input while it prompts, and then until enough came or none came for a while. */
const takeInput = async (
  element: MarkupElement,
  context: VerbContext,
  input: Input,
): Promise<void> => {
  const { call } = context.known;
  const isOpen = () => !context.signal.aborted && !input.digits.isComplete;
  const barges = attributeOf(element, "bargeIn", context) !== "false";
  const isInterrupted = () => barges && input.count > 0;
  for (const child of element.children) {
    if (child.name !== "Say" && child.name !== "Play" && child.name !== "Pause") {
      notEmulated(context, `Gather.${child.name}`);
    }
    if (!isInterrupted()) await prompt(child, context, () => isOpen() && !isInterrupted());
  }
  call.endPrompts();
  if (isOpen() && input.count === 0) context.parts.onQuestion?.(call);
  const timeouts = timeoutsOf(element, context);
  for (let before = -1; isOpen() && before !== input.count; ) {
    before = input.count;
    const deadline = input.deadline(call.talkTime, timeouts);
    await waitUntil(call, deadline, () => isOpen() && input.count === before);
  }
};

/** The fields of what was said. */
const speechFields = ({ text, confidence }: Utterances): Fields => ({
  SpeechResult: text,
  Confidence: String(confidence),
});

/** Prompts, and takes keys or speech. */
export const gather: Verb = async (element, context) => {
  const { known, carrier } = context;
  const { call } = known;
  const input = new Input(element, context);
  if (!input.takesKeys && !input.takesSpeech) {
    return fail(context, "Gather.input", "must be dtmf, speech or dtmf speech");
  }
  begin(context, element);
  const onKey = (digit: string) => {
    input.press(digit);
    call.timeline.skip();
  };
  const onSpeech = (utterance: Utterance) => input.addUtterance(utterance);
  call.keyListeners.add(onKey);
  call.speechListeners.add(onSpeech);
  try {
    await takeInput(element, context, input);
  } finally {
    call.keyListeners.delete(onKey);
    call.speechListeners.delete(onSpeech);
  }
  const { digits, utterances } = input;
  if (!utterances.isEmpty) return requestAfter(element, context, speechFields(utterances));
  const isReported = attributeOf(element, "actionOnEmptyResult", context) === "true";
  if (digits.isEmpty && !isReported) return "next";
  const fields = input.takesKeys ? carrier.gatherFields(digits.text, digits.finishedBy ?? "") : {};
  if (!digits.isValid) return actionOf(element, context, fields, "invalidDigitsAction") ?? "next";
  return requestAfter(element, context, fields);
};
