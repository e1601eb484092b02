import type { Call, Message } from "../call.ts";
import type { Timeline } from "../clock.ts";
import type { Reason } from "../history.ts";
import {
  dialSecondLeg,
  FlowError,
  type FlowParts,
  mediaDuration,
  planHangup,
  playTone,
  waitUntil,
} from "../line.ts";
import { isAllowed, messageOf } from "../outgoing.ts";
import type { Side } from "../recording/recording.ts";
import { scenarioOf } from "../scenarios.ts";
import { runStream } from "../stream.ts";
import type { TwilioCall } from "./call.ts";
import type { Next } from "./fields.ts";
import { mediaStreamsCodec } from "./media-streams.ts";
import { streamMessage } from "./notifications.ts";
import { type Method, signedRequest } from "./requests.ts";
import { type Fields, signatureOf } from "./signature.ts";
import type { TwimlElement } from "./twiml.ts";

/** What the verbs of one document need. */
export interface Line {
  readonly known: TwilioCall;
  /** Counts the documents of the call from 1. */
  readonly step: number;
  /** The URL of the document: relative ones start there. */
  readonly url: string;
  /** Aborts when the call is over or continues elsewhere. */
  readonly signal: AbortSignal;
  readonly parts: FlowParts;
  readonly accountSid: string;
  readonly token: () => string;
  /** Makes an id with two letters before it. */
  readonly newSid: (letters: string) => string;
  readonly notify: (message: Message) => void;
  /** Streams beside the flow, by their names. */
  readonly streams: BackgroundStreams;
}

/** A request for the next document. */
export type Request = Next & { readonly fields?: Fields };

/** What follows a verb: the next verb, a request, or the end of the call. */
type Then = "next" | "end" | Request;

type Verb = (element: TwimlElement, line: Line) => Promise<Then>;

/** The attributes of each verb that the emulator follows; others are listed in the history. */
const followed: Readonly<Record<string, readonly string[]>> = {
  Say: ["loop"],
  Play: ["loop", "digits"],
  Pause: ["length"],
  Gather: [
    "input",
    "numDigits",
    "timeout",
    "finishOnKey",
    "action",
    "method",
    "actionOnEmptyResult",
  ],
  Dial: ["action", "method", "timeout", "timeLimit", "record"],
  Number: [],
  Sip: [],
  Connect: ["action", "method"],
  Start: [],
  Stop: [],
  Stream: ["url", "name", "track", "statusCallback", "statusCallbackMethod"],
  Parameter: ["name", "value"],
  Redirect: ["method"],
  Hangup: [],
  Reject: ["reason"],
  Response: [],
};

/** The attributes in a document that the emulator does not follow, such as `Say.voice`; the first 20. */
export const unknownAttributes = (elements: readonly TwimlElement[]): readonly string[] => {
  const unknown = elements.flatMap(({ name, attributes, children }) => {
    const known = followed[name];
    const own = known ? Object.keys(attributes).filter((each) => !known.includes(each)) : [];
    // What is in a Say is SSML.
    return [
      ...own.map((each) => `${name}.${each}`),
      ...(name === "Say" ? [] : unknownAttributes(children)),
    ];
  });
  return [...new Set(unknown)].slice(0, 20);
};

const fail = ({ step }: Line, field: string, rule: string, code?: number): never => {
  throw new FlowError(step, field, rule, code);
};

/** Logs the beginning of a verb. */
const begin = ({ known: { call }, step }: Line, element: TwimlElement, duration?: number): void => {
  const { name: verb, attributes } = element;
  // A Gather's text is that of the verbs in it.
  const text = verb === "Gather" ? "" : element.text;
  call.log({
    type: "verb",
    step,
    verb,
    attributes,
    ...(text && { text }),
    ...(duration !== undefined && { duration }),
  });
  planHangup(call, duration);
};

/** A whole number of an attribute; the default where it is missing or something else. */
const numberOf = ({ attributes }: TwimlElement, name: string, missing: number): number => {
  const text = attributes[name] ?? "";
  return /^\d+$/.test(text) ? Number(text) : missing;
};

const methodOf = (text: string | undefined): Method =>
  text?.toUpperCase() === "GET" ? "GET" : "POST";

/** A URL of a document, which may be relative. */
const resolve = (line: Line, field: string, given: string): string => {
  const { url, known } = line;
  let resolved: URL;
  try {
    resolved = new URL(given, url || undefined);
  } catch {
    return fail(line, field, "is not a URL", 11_100);
  }
  const bare = new URL(resolved);
  bare.username = bare.password = bare.hash = "";
  if (isAllowed(bare.href, known.call.local)) return resolved.href;
  return fail(line, field, "must be https, as the service is remote", 11_100);
};

/** The request to the `action` of a verb. */
const actionOf = (element: TwimlElement, line: Line, fields: Fields): Request | undefined => {
  const { action, method } = element.attributes;
  if (!action) return;
  const url = resolve(line, `${element.name}.action`, action);
  return { url, method: methodOf(method), fields };
};

/** Milliseconds of speech for each character, and at least. */
const characterDuration = 65;
const minSpeech = 500;

/** How often a verb is repeated whose `loop` is 0, which means until the call is over. */
const endless = 1_000;

const loops = (element: TwimlElement): number => numberOf(element, "loop", 1) || endless;

const sound = async (
  element: TwimlElement,
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
const lengthOf = async (element: TwimlElement, line: Line): Promise<number> => {
  const { name, text, attributes } = element;
  if (name === "Say") {
    return loops(element) * Math.max(minSpeech, text.length * characterDuration);
  }
  if (name === "Pause") return numberOf(element, "length", 1) * 1_000;
  if (attributes.digits) return attributes.digits.length * digitDuration;
  const { step, signal, known, parts, token } = line;
  const { url, headers } = signedRequest(token(), resolve(line, "Play", text), "GET", {});
  const source = { step, field: "Play", url, headers, signal, code: 11_200 };
  return loops(element) * (await mediaDuration(known.call, source, parts));
};

const prompt = async (
  element: TwimlElement,
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
  readonly #finishOnKey: string;
  text = "";
  finishedBy: string | undefined;
  /** How many keys were pressed. */
  count = 0;

  constructor(element: TwimlElement) {
    this.#max = numberOf(element, "numDigits", Number.POSITIVE_INFINITY);
    this.#finishOnKey = element.attributes.finishOnKey ?? "#";
  }

  get isComplete(): boolean {
    return this.finishedBy !== undefined || this.text.length >= this.#max;
  }

  press(digit: string): void {
    if (this.isComplete) return;
    this.count++;
    if (this.#finishOnKey.includes(digit)) this.finishedBy = digit;
    else this.text += digit;
  }
}

/** Takes digits while it prompts, and then until enough came or none came for a while. */
const takeDigits = async (element: TwimlElement, line: Line, digits: Digits): Promise<void> => {
  const { call } = line.known;
  const isOpen = () => !line.signal.aborted && !digits.isComplete;
  for (const child of element.children) {
    if (child.name !== "Say" && child.name !== "Play" && child.name !== "Pause") {
      fail(line, `Gather.${child.name}`, "is not emulated");
    }
    if (digits.count === 0) await prompt(child, line, () => isOpen() && digits.count === 0);
  }
  const timeout = numberOf(element, "timeout", 5) * 1_000;
  for (let before = -1; isOpen() && before !== digits.count; ) {
    before = digits.count;
    await waitUntil(call, call.talkTime + timeout, () => isOpen() && digits.count === before);
  }
};

const gather: Verb = async (element, line) => {
  const { call } = line.known;
  const { input = "dtmf", actionOnEmptyResult } = element.attributes;
  if (!input.split(" ").includes("dtmf")) {
    return fail(line, "Gather.input", `is ${input}: only dtmf is emulated`);
  }
  begin(line, element);
  const digits = new Digits(element);
  const onKey = (digit: string) => digits.press(digit);
  call.keyListeners.add(onKey);
  try {
    await takeDigits(element, line, digits);
  } finally {
    call.keyListeners.delete(onKey);
  }
  const isEmpty = digits.text === "" && digits.finishedBy === undefined;
  if (isEmpty && actionOnEmptyResult !== "true") return "next";
  const { finishedBy: FinishedOnKey = "" } = digits;
  const fields = { Digits: digits.text, FinishedOnKey, msg: "Gather End" };
  const then = actionOf(element, line, fields);
  if (then) return then;
  if (!line.url) return fail(line, "Gather.action", "is missing, and the TwiML has no URL", 11_100);
  return { url: line.url, method: methodOf(element.attributes.method), fields };
};

/** What `DialCallStatus` says of the reason for which the second leg ended. */
const dialStatuses: Readonly<Partial<Record<Reason, string>>> = {
  busy: "busy",
  no_answer: "no-answer",
  rejected: "no-answer",
  unreachable: "failed",
  canceled: "canceled",
};

/** A number without what people write between the digits; a SIP address as it is. */
const bare = (to: string): string => (/^sip:/i.test(to) ? to : to.replace(/[\s().-]/g, ""));

const answers = (to: string): boolean => scenarioOf(to).outcome.outcome === "answer";

/** Whom a Dial calls: the noun that is reached, or the text. */
const dialled = (element: TwimlElement, line: Line): string => {
  const [first] = element.children;
  if (!first) return bare(element.text);
  const other = element.children.find(({ name }) => name !== "Number" && name !== "Sip");
  if (other) return fail(line, `Dial.${other.name}`, "is not emulated");
  // Twilio calls all of them at once, and the first to answer is connected.
  const numbers = element.children.map(({ text }) => bare(text));
  return numbers.find(answers) ?? bare(first.text);
};

const dial: Verb = async (element, line) => {
  const { known, step, signal, parts } = line;
  const to = dialled(element, line);
  if (!to) return fail(line, "Dial", "has nobody to call", 13_223);
  begin(line, element);
  const DialCallSid = line.newSid("CA");
  const { record = "do-not-record" } = element.attributes;
  const limit = numberOf(element, "timeLimit", 0) * 1_000;
  const { reason, talkTime } = await dialSecondLeg(known.call, {
    step,
    to,
    record: record !== "do-not-record" && record !== "false",
    signal,
    ringDuration: parts.ringDuration,
    answerTimeout: numberOf(element, "timeout", 30) * 1_000,
    maxDuration: limit || undefined,
  });
  const DialCallStatus = (reason && dialStatuses[reason]) ?? "completed";
  const isAnswered = talkTime !== undefined;
  const fields = {
    DialBridged: String(isAnswered),
    DialCallSid,
    DialCallStatus,
    ...(isAnswered && { DialCallDuration: String(Math.round(talkTime / 1_000)) }),
  };
  return actionOf(element, line, fields) ?? "next";
};

/** Whose audio a stream has, by its attribute `track`. */
const sidesOf: Readonly<Record<string, readonly Side[]>> = {
  inbound_track: ["callee"],
  outbound_track: ["application"],
  both_tracks: ["callee", "application"],
};

/** How one stream is run. */
interface StreamPlan {
  readonly element: TwimlElement;
  readonly signal: AbortSignal;
  /** Whether the application may send audio. */
  readonly isBidirectional: boolean;
  /** The time of a stream beside the flow. */
  readonly timeline?: Timeline;
}

/** Connects the call to a media socket until either side ends it. */
const openStream = async (line: Line, plan: StreamPlan): Promise<void> => {
  const { element, signal, isBidirectional, timeline } = plan;
  const { known, step, parts, accountSid, token, notify } = line;
  const { call } = known;
  const { url = "", name, track = "inbound_track", statusCallback } = element.attributes;
  const sides = sidesOf[track];
  if (!sides || (isBidirectional && track !== "inbound_track")) {
    return fail(line, "Stream.track", `is ${track}`, 31_932);
  }
  const isRelative = !URL.canParse(url) || !/^wss?:/i.test(url);
  const target = isRelative ? undefined : new URL(url);
  // Twilio drops the query: what the application needs comes as parameters.
  if (target) target.search = target.hash = "";
  if (!target || !isAllowed(target.href.replace(/^ws/, "http"), call.local)) {
    return fail(line, "Stream.url", "must be wss", 31_922);
  }
  const streamSid = line.newSid("MZ");
  const parameters = element.children.map(({ attributes }) => attributes);
  const codec = mediaStreamsCodec({
    accountSid,
    callSid: call.id,
    streamSid,
    sides,
    parameters: Object.fromEntries(
      parameters.map(({ name: each = "", value = "" }) => [each, value]),
    ),
    isBidirectional,
  });
  const tell = (event: "stream-started" | "stream-stopped" | "stream-error", error?: string) => {
    if (!statusCallback) return;
    const method = methodOf(element.attributes.statusCallbackMethod);
    const receiver = { url: resolve(line, "Stream.statusCallback", statusCallback), method };
    const facts = { streamSid, name };
    notify(streamMessage(known, receiver, facts, event, error, { accountSid, token }));
  };
  const onOpen = () => {
    begin(line, element);
    call.keyListeners.add(codec.press);
    tell("stream-started");
    return codec;
  };
  const headers = { "X-Twilio-Signature": signatureOf(token(), target.href, {}) };
  const socket = { step, field: "Stream.url", url: target.href, headers, code: 31_920 };
  try {
    await runStream(call, { ...socket, record: true, signal, timeline, onOpen }, parts);
    tell("stream-stopped");
  } catch (error) {
    tell("stream-error", messageOf(error));
    throw error;
  } finally {
    call.keyListeners.delete(codec.press);
  }
};

/** The one noun of a verb, which must be a Stream. */
const streamIn = (element: TwimlElement, line: Line): TwimlElement => {
  const [noun] = element.children;
  if (noun?.name === "Stream") return noun;
  return fail(
    line,
    `${element.name}.${noun?.name ?? "Stream"}`,
    noun ? "is not emulated" : "is missing",
  );
};

const connect: Verb = async (element, line) => {
  const stream = streamIn(element, line);
  await openStream(line, { element: stream, signal: line.signal, isBidirectional: true });
  return actionOf(element, line, {}) ?? "next";
};

/** The streams of a call that run beside its flow. */
export class BackgroundStreams {
  readonly #call: Call;
  readonly #running = new Map<
    string,
    { readonly stop: () => void; readonly done: Promise<void> }
  >();
  #count = 0;

  constructor(call: Call) {
    this.#call = call;
  }

  /** Runs a stream until it is stopped, the application ends it, or the call is over. */
  start(
    name: string | undefined,
    run: (signal: AbortSignal, timeline: Timeline) => Promise<void>,
  ): void {
    const call = this.#call;
    const ending = new AbortController();
    const timeline = call.timeline.fork();
    const stop = () => {
      ending.abort();
      timeline.stop();
    };
    call.over.signal.addEventListener("abort", stop);
    const done = timeline
      .run(() => run(ending.signal, timeline))
      .catch((error) => {
        if (!(error instanceof FlowError) || ending.signal.aborted) return;
        const { step, field, message, code } = error;
        call.log({ type: "flow_error", step, field, message, ...(code !== undefined && { code }) });
      });
    this.#running.set(name ?? `unnamed ${++this.#count}`, { stop, done });
  }

  stop(name: string): void {
    this.#running.get(name)?.stop();
  }

  /** Ends all streams, and waits for that. */
  async stopAll(): Promise<void> {
    for (const { stop } of this.#running.values()) stop();
    await Promise.all([...this.#running.values()].map(({ done }) => done));
  }
}

const start: Verb = async (element, line) => {
  const stream = streamIn(element, line);
  line.streams.start(stream.attributes.name, (signal, timeline) =>
    openStream(line, { element: stream, signal, isBidirectional: false, timeline }),
  );
  return "next";
};

const stop: Verb = async (element, line) => {
  const { name = "" } = streamIn(element, line).attributes;
  begin(line, element);
  line.streams.stop(name);
  return "next";
};

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
