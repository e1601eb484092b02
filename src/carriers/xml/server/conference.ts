import type { Instruction } from "../../../performer/instructions.ts";
import {
  actionOf,
  attributeOf,
  beginning,
  fail,
  methodOf,
  numberOf,
  type Request,
  requested,
  resolve,
  type VerbContext,
} from "./context.ts";
import type { MarkupElement } from "./document.ts";
import { messageTo } from "./notifications.ts";
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
export const joinConference = (
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
