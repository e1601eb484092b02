import type { Reason } from "../history.ts";
import { dialSecondLeg, mediaDuration, playTone, waitUntil } from "../line.ts";
import { scenarioOf } from "../scenarios.ts";
import type { MarkupElement } from "./document.ts";
import {
  actionOf,
  attributeOf,
  begin,
  fail,
  type Line,
  methodOf,
  numberOf,
  resolve,
  type Verb,
} from "./line.ts";
import { formRequest } from "./requests.ts";
import { connect, start, stop } from "./streams.ts";

/** Milliseconds of speech for each character, and at least. */
const characterDuration = 65;
const minSpeech = 500;

/** How often a verb is repeated whose `loop` is 0, which means until the call is over. */
const endless = 1_000;

const loops = (element: MarkupElement, line: Line): number =>
  numberOf(element, "loop", line, 1) || endless;

const sound = async (
  element: MarkupElement,
  line: Line,
  duration: number,
  goesOn = () => !line.signal.aborted,
): Promise<void> => {
  begin(line, element, duration);
  await playTone(line.known.call, duration, goesOn);
};

/** Milliseconds of each digit that is played. */
const digitDuration = 500;

/** How long a Say, a Play or a Pause takes, in milliseconds. */
const lengthOf = async (element: MarkupElement, line: Line): Promise<number> => {
  const { name, text, attributes } = element;
  if (name === "Say") {
    return loops(element, line) * Math.max(minSpeech, text.length * characterDuration);
  }
  if (name === "Pause") return numberOf(element, "length", line, 1) * 1_000;
  if (attributes.digits) return attributes.digits.length * digitDuration;
  if (attributes.mediaStorage === "true") {
    return fail(line, "Play.mediaStorage", "is not emulated");
  }
  const { step, signal, known, parts, carrier } = line;
  const { url, headers, fields, body } = formRequest(resolve(line, "Play", text), "GET", {});
  const signature = carrier.alsoSigns.has("media") && (await carrier.sign({ url, fields, body }));
  const { media: code } = carrier.codes;
  const source = { step, field: "Play", url, headers: { ...headers, ...signature }, signal, code };
  const once = await mediaDuration(known.call, source, parts);
  return loops(element, line) * once;
};

const prompt = async (
  element: MarkupElement,
  line: Line,
  goesOn = () => !line.signal.aborted,
): Promise<void> => {
  const duration = await lengthOf(element, line);
  if (!goesOn()) return;
  if (element.name !== "Pause") return sound(element, line, duration, goesOn);
  begin(line, element, duration);
  const { call } = line.known;
  await waitUntil(call, call.talkTime + duration, goesOn);
};

const promptVerb: Verb = async (element, line) => {
  await prompt(element, line);
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

  constructor(element: MarkupElement, line: Line) {
    const most = numberOf(element, "maxDigits", line, Number.POSITIVE_INFINITY);
    this.#max = numberOf(element, "numDigits", line, most);
    this.#min = numberOf(element, "minDigits", line, 0);
    this.#valid = attributeOf(element, "validDigits", line);
    this.#finishOnKey = attributeOf(element, "finishOnKey", line) ?? "#";
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
const takeDigits = async (element: MarkupElement, line: Line, digits: Digits): Promise<void> => {
  const { call } = line.known;
  const isOpen = () => !line.signal.aborted && !digits.isComplete;
  for (const child of element.children) {
    if (child.name !== "Say" && child.name !== "Play" && child.name !== "Pause") {
      fail(line, `Gather.${child.name}`, "is not emulated");
    }
    if (digits.count === 0) await prompt(child, line, () => isOpen() && digits.count === 0);
  }
  const timeout = numberOf(element, "timeout", line, 5) * 1_000;
  for (let before = -1; isOpen() && before !== digits.count; ) {
    before = digits.count;
    await waitUntil(call, call.talkTime + timeout, () => isOpen() && digits.count === before);
  }
};

const gather: Verb = async (element, line) => {
  const { known, carrier, url } = line;
  const { input = "dtmf" } = element.attributes;
  if (!input.split(" ").includes("dtmf")) {
    return fail(line, "Gather.input", `is ${input}: only dtmf is emulated`);
  }
  begin(line, element);
  const digits = new Digits(element, line);
  const onKey = (digit: string) => digits.press(digit);
  known.call.keyListeners.add(onKey);
  try {
    await takeDigits(element, line, digits);
  } finally {
    known.call.keyListeners.delete(onKey);
  }
  const isReported = attributeOf(element, "actionOnEmptyResult", line) === "true";
  if (digits.isEmpty && !isReported) return "next";
  const fields = carrier.gatherFields(digits.text, digits.finishedBy ?? "");
  if (!digits.isValid) return actionOf(element, line, fields, "invalidDigitsAction") ?? "next";
  const then = actionOf(element, line, fields);
  if (then) return then;
  if (!carrier.gathersAtOwnUrl) return "next";
  if (!url) {
    return fail(line, "Gather.action", `is missing, and the ${carrier.markup} has no URL`, "url");
  }
  return { url, method: methodOf(attributeOf(element, "method", line)), fields };
};

/** A number without what people write between the digits; a SIP address as it is. */
const bare = (to: string): string => (/^sip:/i.test(to) ? to : to.replace(/[\s().-]/g, ""));

const answers = (to: string): boolean => scenarioOf(to).outcome.outcome === "answer";

/** Whom a Dial calls: the noun that is reached, or the text. */
const dialled = (element: MarkupElement, line: Line): string => {
  const [first] = element.children;
  if (!first) return bare(element.text);
  const other = element.children.find(({ name }) => name !== "Number" && name !== "Sip");
  if (other) return fail(line, `Dial.${other.name}`, "is not emulated");
  // The carriers call all of them at once, and the first to answer is connected.
  const numbers = element.children.map(({ text }) => bare(text));
  return numbers.find(answers) ?? bare(first.text);
};

const dial: Verb = async (element, line) => {
  const { known, step, signal, parts, carrier } = line;
  const { call } = known;
  const to = dialled(element, line);
  if (!to) return fail(line, "Dial", "has nobody to call", "nobody");
  begin(line, element);
  const sid = carrier.newSid("call", call.timeline.now());
  const record = attributeOf(element, "record", line) ?? "do-not-record";
  const limit = numberOf(element, "timeLimit", line, 0) * 1_000;
  const { reason, talkTime } = await dialSecondLeg(call, {
    step,
    to,
    record: record !== "do-not-record" && record !== "false",
    signal,
    ringDuration: parts.ringDuration,
    answerTimeout: numberOf(element, "timeout", line, 30) * 1_000,
    maxDuration: limit || undefined,
  });
  const status = statusOfLeg(reason, line);
  const seconds = talkTime === undefined ? undefined : Math.round(talkTime / 1_000);
  return actionOf(element, line, carrier.dialFields(sid, status, seconds)) ?? "next";
};

/** What `DialCallStatus` says of the reason for which the second leg ended. */
const statusOfLeg = (reason: Reason | undefined, { carrier }: Line): string =>
  (reason && carrier.failures[reason]) ?? "completed";

const redirect: Verb = async (element, line) => {
  begin(line, element);
  const url = resolve(line, "Redirect", element.text);
  return { url, method: methodOf(element.attributes.method) };
};

const hangup: Verb = async (element, line) => {
  begin(line, element);
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
export const perform: Verb = async (element, line) => {
  const verb = Object.hasOwn(verbs, element.name) ? verbs[element.name] : undefined;
  return verb ? verb(element, line) : fail(line, element.name, "is not emulated");
};
