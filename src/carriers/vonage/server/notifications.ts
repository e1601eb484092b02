import type { Message } from "../../../emulator/call.ts";
import { iso, type Reason } from "../../../emulator/history.ts";
import {
  digitsOf,
  endFields,
  endingOf,
  type Fields,
  recordingUrlOf,
  statusOf,
  subjectOf,
  type VonageCall,
} from "./call.ts";
import type { Target } from "./fields.ts";
import { eventMessage } from "./requests.ts";
import type { SignWebhook } from "./tokens.ts";

/** Where and how events are sent. */
interface EventParts {
  readonly target: Target | undefined;
  readonly sign: SignWebhook;
}

/** An event; none without a URL for it. */
const eventOf = (
  id: string,
  event: string,
  fields: Fields,
  { target, sign }: EventParts,
): readonly Message[] => (target ? [eventMessage(target, id, event, fields, sign)] : []);

/** The events of a call's current state: one, and after a failed call `completed` too. */
const stateEvents = (known: VonageCall, sign: SignWebhook): readonly Message[] => {
  const { call, fields } = known;
  const { facts } = call;
  const now = call.timeline.now();
  const eventsFor = (status: string, more: Fields = {}) => {
    const body = {
      ...subjectOf(known),
      status,
      direction: "outbound",
      timestamp: iso(now),
      ...more,
    };
    return eventOf(`${call.id}.${status}`, status, body, { target: fields.events, sign });
  };
  const ended = endFields(facts.answered_at, now);
  const ending = call.state === "failed" ? endingOf(facts.reason) : undefined;
  if (!ending) {
    const isOver = call.state === "completed";
    const isLimit = facts.reason === "max_duration";
    const disconnected_by = isLimit ? "platform" : known.endedBy;
    return eventsFor(statusOf(facts), isOver ? { ...ended, disconnected_by } : {});
  }
  const { status, detail, isCompleted } = ending;
  return [
    ...eventsFor(status, detail === undefined ? {} : { detail }),
    ...(isCompleted ? eventsFor("completed", ended) : []),
  ];
};

/** Ends the running recording. Returns the event of it. */
export const endRecording = (known: VonageCall, sign: SignWebhook): readonly Message[] => {
  const { call, conversation, recording, origin } = known;
  if (!recording) return [];
  known.recording = undefined;
  const { id, from, events } = recording;
  const to = call.talkTime;
  const { answered_at = 0 } = call.facts;
  const url = recordingUrlOf(origin, id);
  call.log({ type: "recording", url, seconds: (to - from) / 1000 });
  const body: Fields = {
    start_time: iso(answered_at + from),
    end_time: iso(answered_at + to),
    recording_url: url,
    recording_uuid: id,
    // One channel of 16 bits at 8 kHz, from the answer on.
    size: 44 + Math.round(to * 16),
    conversation_uuid: conversation,
    timestamp: iso(call.timeline.now()),
  };
  return eventOf(id, "record", body, { target: events, sign });
};

/** The notifications that are due when the state of a call has changed. */
export const messagesOf = (known: VonageCall, sign: SignWebhook): readonly Message[] => [
  ...stateEvents(known, sign),
  ...(known.call.isOver ? endRecording(known, sign) : []),
];

/** The event of what answered. */
export const machineMessages = (
  known: VonageCall,
  status: "human" | "machine",
  sub_state: "beep_start" | "beep_timeout" | undefined,
  sign: SignWebhook,
): readonly Message[] => {
  const { call, fields } = known;
  const { uuid, ...subject } = subjectOf(known);
  const body: Fields = {
    ...subject,
    call_uuid: uuid,
    status,
    ...(sub_state && { sub_state }),
    timestamp: iso(call.timeline.now()),
  };
  const id = [call.id, status, sub_state].filter(Boolean).join(".");
  return eventOf(id, status, body, { target: fields.events, sign });
};

/** The event of a transfer, which leads a call into another conversation. */
export const transferMessages = (
  { call, fields }: VonageCall,
  from: string,
  to: string,
  sign: SignWebhook,
): readonly Message[] => {
  const body: Fields = {
    conversation_uuid_from: from,
    conversation_uuid_to: to,
    uuid: call.id,
    type: "transfer",
    timestamp: iso(call.timeline.now()),
  };
  return eventOf(`${call.id}.transfer.${to}`, "transfer", body, { target: fields.events, sign });
};

/** The event of an NCCO that can't be followed. */
export const errorMessages = (
  known: VonageCall,
  reason: string,
  sign: SignWebhook,
): readonly Message[] => {
  const { call, conversation, fields } = known;
  const body: Fields = {
    reason,
    conversation_uuid: conversation,
    timestamp: iso(call.timeline.now()),
  };
  return eventOf(`${call.id}.error`, "error", body, { target: fields.events, sign });
};

/** A leg that an action adds to a call. */
export class ConnectedLeg {
  readonly #known: VonageCall;
  readonly #id: string;
  readonly #ends: { readonly from: string; readonly to: string };
  readonly #conversation: string;
  #answeredAt: number | undefined;

  /** @param ends - who calls whom: E.164, or a URI */
  constructor(known: VonageCall, id: string, ends: { readonly from: string; readonly to: string }) {
    this.#known = known;
    this.#id = id;
    this.#ends = ends;
    this.#conversation = known.conversation;
  }

  /** The fields of an event of the leg. */
  fields(status: string, more: Fields = {}): Fields {
    const { call } = this.#known;
    const { from, to } = this.#ends;
    return {
      from: digitsOf(from),
      to: digitsOf(to),
      uuid: this.#id,
      conversation_uuid: this.#conversation,
      status,
      direction: "outbound",
      timestamp: iso(call.timeline.now()),
      ...more,
    };
  }

  answered(): void {
    this.#answeredAt = this.#known.call.timeline.now();
  }

  /** The fields of the event by which a leg failed; `undefined` for one that was answered. */
  failedFields(reason: Reason | undefined): Fields | undefined {
    const ending = endingOf(reason);
    return ending && this.fields(ending.status, ending.detail ? { detail: ending.detail } : {});
  }

  /** The fields of its last event. */
  completedFields(): Fields {
    return this.fields("completed", endFields(this.#answeredAt, this.#known.call.timeline.now()));
  }

  /** An event as a notification. */
  message(fields: Fields, parts: EventParts): readonly Message[] {
    const status = String(fields.status);
    return eventOf(`${this.#id}.${status}`, `leg ${status}`, fields, parts);
  }
}
