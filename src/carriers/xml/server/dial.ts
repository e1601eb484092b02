import type { Instruction } from "../../../performer/instructions.ts";
import type { Reason } from "../../../performer/line.ts";
import type { Message } from "../../../server/call.ts";
import type { CallRecording } from "./call.ts";
import {
  actionOf,
  attributeOf,
  beginning,
  fail,
  methodOf,
  notEmulated,
  numberOf,
  type Request,
  requested,
  resolve,
  type Verb,
  type VerbContext,
} from "./context.ts";
import type { MarkupElement } from "./document.ts";
import { messageTo } from "./notifications.ts";
import { beginRecording, endRecording, receiverOf } from "./record.ts";
import type { Fields } from "./requests.ts";

/** The longest conference by default, in seconds: four hours. */
const maxConference = 14_400;

/** The events of a conference, and the words by which a document asks for them. */
const events = {
  "participant-join": "join",
  "conference-start": "start",
  "participant-leave": "leave",
  "conference-end": "end",
} as const;

/** One conference of the callee and somebody else. */
class Conference {
  readonly #noun: MarkupElement;
  readonly #context: VerbContext;
  readonly #sid: string;
  readonly #wanted: readonly string[];
  #count = 0;

  constructor(noun: MarkupElement, context: VerbContext) {
    const { carrier, call } = context;
    this.#noun = noun;
    this.#context = context;
    this.#sid = carrier.newSid("conference", call.served.timeline.now());
    this.#wanted = (attributeOf(noun, "statusCallbackEvent", context) ?? "").split(/[\s,]+/);
  }

  /** Notifies of an event, if it is wanted. */
  report(event: keyof typeof events, more: Fields = {}): void {
    const { call, carrier, notify } = this.#context;
    const { served, accountSid } = call;
    const given = attributeOf(this.#noun, "statusCallback", this.#context);
    const SequenceNumber = String(++this.#count);
    if (!given || !this.#wanted.includes(events[event])) return;
    const url = resolve(this.#context, "Conference.statusCallback", given);
    const method = methodOf(attributeOf(this.#noun, "statusCallbackMethod", this.#context));
    const fields: Fields = {
      AccountSid: accountSid,
      ConferenceSid: this.#sid,
      FriendlyName: this.#noun.text,
      SequenceNumber,
      StatusCallbackEvent: event,
      Timestamp: carrier.timestamp(served.timeline.now()),
      ...more,
    };
    const id = `${this.#sid}-${SequenceNumber}`;
    notify(messageTo({ url, method }, { id, event, fields }, carrier));
  }

  /** The fields of an event of a participant. */
  participant(sid: string, isCallee: boolean): Fields {
    const flag = (name: string, missing: string) =>
      (isCallee ? attributeOf(this.#noun, name, this.#context) : undefined) ?? missing;
    return {
      CallSid: sid,
      Muted: flag("muted", "false"),
      Hold: "false",
      Coaching: "false",
      StartConferenceOnEnter: flag("startConferenceOnEnter", "true"),
      // The other participant ends it: the callee would be alone.
      EndConferenceOnExit: flag("endConferenceOnExit", String(!isCallee)),
    };
  }
}

/**
 * Lets the callee join a conference. Somebody else joins after a second, talks for as long as the second leg of a Dial,
 * and ends the conference by leaving it; with `maxParticipants` of 1 nobody joins.
 */
const joinConference = (
  element: MarkupElement,
  noun: MarkupElement,
  context: VerbContext,
): Instruction<Request> => {
  const { call, carrier } = context;
  const { served } = call;
  if (!noun.text) return fail(context, "Dial.Conference", "has no name", "nobody");
  const conference = new Conference(noun, context);
  const callee = conference.participant(served.id, true);
  const otherSid = carrier.newSid("call", served.timeline.now());
  const other = conference.participant(otherSid, false);
  const isAlone = numberOf(noun, "maxParticipants", context, 250) === 1;
  return {
    type: "conference",
    step: beginning(element, context),
    name: noun.text,
    isAlone,
    maxDuration: (numberOf(element, "timeLimit", context, maxConference) || maxConference) * 1_000,
    onBegin: () => conference.report("participant-join", callee),
    onState: ({ state }) => {
      if (state !== "answered") return;
      conference.report("participant-join", other);
      conference.report("conference-start");
    },
    next: () => {
      const [first, last] = served.isOver || isAlone ? [callee, other] : [other, callee];
      const left = { ReasonParticipantLeft: "participant_hung_up" };
      conference.report("participant-leave", { ...first, ...left });
      if (!isAlone) conference.report("participant-leave", { ...last, ...left });
      conference.report("conference-end", {
        CallSidEndingConference: first.CallSid ?? "",
        ReasonConferenceEnded:
          isAlone || served.isOver
            ? "last-participant-left"
            : "participant-with-end-conference-on-exit-left",
      });
      return requested(actionOf(element, context, { DialCallStatus: "answered" }));
    },
  };
};

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
