import type { Reason } from "../../../performer/line.ts";
import type { Message } from "../../../server/call.ts";
import { joinConference } from "./conference.ts";
import {
  actionOf,
  attributeOf,
  beginning,
  fail,
  numberOf,
  requested,
  type Verb,
  type VerbContext,
} from "./context.ts";
import type { MarkupElement } from "./document.ts";
import { notEmulated } from "./not-emulated.ts";
import { receiverOf } from "./record.ts";
import { beginRecording, endRecording } from "./recorder.ts";
import type { CallRecording } from "./recordings.ts";
import type { Fields } from "./requests.ts";

/** A number without what people write between the digits; another address as it is. */
const bare = (to: string): string =>
  /^(sip|client):/i.test(to) ? to : to.replace(/[\s().-]/g, "");

/** Whom a noun calls, by its name. */
const addresses: Readonly<Record<string, (noun: MarkupElement) => string>> = {
  Number: ({ text }) => bare(text),
  Sip: ({ text }) => bare(text),
  Client: ({ text, children }) => {
    // The name stands in it, or in an element of its own beside parameters.
    const identity = children.find(({ name }) => name === "Identity")?.text ?? text;
    return identity && `client:${identity}`;
  },
};

/** Whom a Dial calls: its nouns, or the text. */
const dialled = (element: MarkupElement, context: VerbContext): readonly string[] => {
  if (element.children.length === 0) return [bare(element.text)].filter(Boolean);
  // The carriers call all of them at once, and the first to answer is connected.
  const numbers = element.children.map((noun) => {
    const isKnown =
      Object.hasOwn(addresses, noun.name) && Object.hasOwn(context.carrier.attributes, noun.name);
    const addressOf = isKnown ? addresses[noun.name] : undefined;
    return addressOf ? addressOf(noun) : notEmulated(context, `Dial.${noun.name}`);
  });
  return numbers.filter(Boolean);
};

/** The recording of a conversation, where a Dial wants one. */
class DialRecording {
  readonly #element: MarkupElement;
  readonly #context: VerbContext;
  readonly #wanted: string;
  #recording: CallRecording | undefined;

  constructor(element: MarkupElement, context: VerbContext) {
    this.#element = element;
    this.#context = context;
    this.#wanted = attributeOf(element, "record", context) ?? "do-not-record";
  }

  get isWanted(): boolean {
    return this.#wanted !== "do-not-record" && this.#wanted !== "false";
  }

  /** Begins in the state of the second leg that the attribute names. */
  onState(state: string): void {
    const begins = this.#wanted.startsWith("record-from-ringing") ? "ringing" : "answered";
    if (!this.isWanted || state !== begins) return;
    const { call, carrier } = this.#context;
    const { recording, messages } = beginRecording(
      call,
      {
        source: "DialVerb",
        channels: this.#wanted.endsWith("-dual") ? 2 : 1,
        track: "both",
        receiver: receiverOf(this.#element, this.#context),
      },
      carrier,
    );
    this.#recording = recording;
    this.#notify(messages);
  }

  /** Ends it, and returns what the request after the Dial has of it. */
  end(): Fields {
    const { call, carrier } = this.#context;
    const recording = this.#recording;
    if (!recording) return {};
    const trims = attributeOf(this.#element, "trim", this.#context) === "trim-silence";
    this.#notify(endRecording(call, recording, carrier, { trims }));
    return { RecordingUrl: call.recordingUrl(recording.sid) };
  }

  #notify(messages: readonly Message[]): void {
    for (const message of messages) this.#context.notify(message);
  }
}

/** Calls somebody, and connects the two. */
export const dial: Verb = (element, context) => {
  const { call, carrier } = context;
  const conference = element.children.find(({ name }) => name === "Conference");
  if (conference) return joinConference(element, conference, context);
  const [to, ...others] = dialled(element, context);
  if (to === undefined) return fail(context, "Dial", "has nobody to call", "nobody");
  const sid = carrier.newSid("call", call.served.timeline.now());
  const recording = new DialRecording(element, context);
  return {
    type: "dial",
    step: beginning(element, context),
    to,
    others,
    record: recording.isWanted,
    answerTimeout: numberOf(element, "timeout", context, 30) * 1_000,
    maxDuration: numberOf(element, "timeLimit", context, 0) * 1_000 || undefined,
    onState: ({ state }) => recording.onState(state),
    next: ({ reason, talkTime }) => {
      const status = statusOfLeg(reason, context);
      const seconds = talkTime === undefined ? undefined : Math.round(talkTime / 1_000);
      const fields = { ...carrier.dialFields(sid, status, seconds), ...recording.end() };
      return requested(actionOf(element, context, fields));
    },
  };
};

/** What `DialCallStatus` says of the reason for which the second leg ended. */
const statusOfLeg = (reason: Reason | undefined, { carrier }: VerbContext): string =>
  (reason && carrier.failures[reason]) ?? "completed";
