import type { Reason } from "../history.ts";
import { dialSecondLeg, mediaDuration, playTone, waitUntil } from "../line.ts";
import { scenarioOf } from "../scenarios.ts";
import { endlessLoops, speechDuration } from "../speech.ts";
import {
  actionOf,
  attributeOf,
  begin,
  fail,
  methodOf,
  numberOf,
  resolve,
  type Verb,
  type VerbContext,
} from "./context.ts";
import type { MarkupElement } from "./document.ts";
import { formRequest } from "./requests.ts";
import { connect, start, stop } from "./streams.ts";

const loops = (element: MarkupElement, context: VerbContext): number =>
  numberOf(element, "loop", context, 1) || endlessLoops;

const sound = async (
  element: MarkupElement,
  context: VerbContext,
  duration: number,
  continues = () => !context.signal.aborted,
): Promise<void> => {
  begin(context, element, duration);
  await playTone(context.known.call, duration, continues);
};

/** Milliseconds of each digit that is played. */
const digitDuration = 500;

/** How long a Say, a Play or a Pause takes, in milliseconds. */
const lengthOf = async (element: MarkupElement, context: VerbContext): Promise<number> => {
  const { name, text, attributes } = element;
  if (name === "Say") {
    return loops(element, context) * speechDuration(text);
  }
  if (name === "Pause") return numberOf(element, "length", context, 1) * 1_000;
  if (attributes.digits) return attributes.digits.length * digitDuration;
  if (attributes.mediaStorage === "true") {
    return fail(context, "Play.mediaStorage", "is not emulated");
  }
  const { step, signal, known, parts, carrier } = context;
  const { url, headers, fields, body } = formRequest(resolve(context, "Play", text), "GET", {});
  const signature = carrier.alsoSigns.has("media") && (await carrier.sign({ url, fields, body }));
  const { media: code } = carrier.codes;
  const source = { step, field: "Play", url, headers: { ...headers, ...signature }, signal, code };
  const once = await mediaDuration(known.call, source, parts);
  return loops(element, context) * once;
};

const prompt = async (
  element: MarkupElement,
  context: VerbContext,
  continues = () => !context.signal.aborted,
): Promise<void> => {
  const duration = await lengthOf(element, context);
  if (!continues()) return;
  if (element.name !== "Pause") return sound(element, context, duration, continues);
  begin(context, element, duration);
  const { call } = context.known;
  await waitUntil(call, call.talkTime + duration, continues);
};

const promptVerb: Verb = async (element, context) => {
  await prompt(element, context);
  return "next";
};

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

/** Takes digits while it prompts, and then until enough came or none came for a while. */
const takeDigits = async (
  element: MarkupElement,
  context: VerbContext,
  digits: Digits,
): Promise<void> => {
  const { call } = context.known;
  const isOpen = () => !context.signal.aborted && !digits.isComplete;
  for (const child of element.children) {
    if (child.name !== "Say" && child.name !== "Play" && child.name !== "Pause") {
      fail(context, `Gather.${child.name}`, "is not emulated");
    }
    if (digits.count === 0) await prompt(child, context, () => isOpen() && digits.count === 0);
  }
  call.endPrompts();
  const timeout = numberOf(element, "timeout", context, 5) * 1_000;
  for (let before = -1; isOpen() && before !== digits.count; ) {
    before = digits.count;
    await waitUntil(call, call.talkTime + timeout, () => isOpen() && digits.count === before);
  }
};

const gather: Verb = async (element, context) => {
  const { known, carrier, url } = context;
  const { input = "dtmf" } = element.attributes;
  if (!input.split(" ").includes("dtmf")) {
    return fail(context, "Gather.input", `is ${input}: only dtmf is emulated`);
  }
  begin(context, element);
  const digits = new Digits(element, context);
  const onKey = (digit: string) => {
    digits.press(digit);
    known.call.timeline.skip();
  };
  known.call.keyListeners.add(onKey);
  try {
    await takeDigits(element, context, digits);
  } finally {
    known.call.keyListeners.delete(onKey);
  }
  const isReported = attributeOf(element, "actionOnEmptyResult", context) === "true";
  if (digits.isEmpty && !isReported) return "next";
  const fields = carrier.gatherFields(digits.text, digits.finishedBy ?? "");
  if (!digits.isValid) return actionOf(element, context, fields, "invalidDigitsAction") ?? "next";
  const then = actionOf(element, context, fields);
  if (then) return then;
  if (!carrier.gathersAtOwnUrl) return "next";
  if (!url) {
    return fail(
      context,
      "Gather.action",
      `is missing, and the ${carrier.markup} has no URL`,
      "url",
    );
  }
  return { url, method: methodOf(attributeOf(element, "method", context)), fields };
};

/** A number without what people write between the digits; a SIP address as it is. */
const bare = (to: string): string => (/^sip:/i.test(to) ? to : to.replace(/[\s().-]/g, ""));

const answers = (to: string): boolean => scenarioOf(to).outcome.outcome === "answer";

/** Whom a Dial calls: the noun that is reached, or the text. */
const dialled = (element: MarkupElement, context: VerbContext): string => {
  const [first] = element.children;
  if (!first) return bare(element.text);
  const other = element.children.find(({ name }) => name !== "Number" && name !== "Sip");
  if (other) return fail(context, `Dial.${other.name}`, "is not emulated");
  // The carriers call all of them at once, and the first to answer is connected.
  const numbers = element.children.map(({ text }) => bare(text));
  return numbers.find(answers) ?? bare(first.text);
};

const dial: Verb = async (element, context) => {
  const { known, step, signal, parts, carrier } = context;
  const { call } = known;
  const to = dialled(element, context);
  if (!to) return fail(context, "Dial", "has nobody to call", "nobody");
  begin(context, element);
  const sid = carrier.newSid("call", call.timeline.now());
  const record = attributeOf(element, "record", context) ?? "do-not-record";
  const limit = numberOf(element, "timeLimit", context, 0) * 1_000;
  const { reason, talkTime } = await dialSecondLeg(call, {
    step,
    to,
    record: record !== "do-not-record" && record !== "false",
    signal,
    ringDuration: parts.ringDuration,
    answerTimeout: numberOf(element, "timeout", context, 30) * 1_000,
    maxDuration: limit || undefined,
  });
  const status = statusOfLeg(reason, context);
  const seconds = talkTime === undefined ? undefined : Math.round(talkTime / 1_000);
  return actionOf(element, context, carrier.dialFields(sid, status, seconds)) ?? "next";
};

/** What `DialCallStatus` says of the reason for which the second leg ended. */
const statusOfLeg = (reason: Reason | undefined, { carrier }: VerbContext): string =>
  (reason && carrier.failures[reason]) ?? "completed";

const redirect: Verb = async (element, context) => {
  begin(context, element);
  const url = resolve(context, "Redirect", element.text);
  return { url, method: methodOf(element.attributes.method) };
};

const hangup: Verb = async (element, context) => {
  begin(context, element);
  return "end";
};

const verbs: Readonly<Record<string, Verb>> = {
  Say: promptVerb,
  Play: promptVerb,
  Pause: promptVerb,
  Gather: gather,
  Dial: dial,
  Connect: connect,
  Start: start,
  Stop: stop,
  Redirect: redirect,
  Hangup: hangup,
  Reject: hangup,
};

/**
 * Performs a verb.
 *
 * @throws {FlowError} when it can't be performed, or the emulator has no such verb
 */
export const perform: Verb = async (element, context) => {
  const verb = Object.hasOwn(verbs, element.name) ? verbs[element.name] : undefined;
  return verb ? verb(element, context) : fail(context, element.name, "is not emulated");
};
