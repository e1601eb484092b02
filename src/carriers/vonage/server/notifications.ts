import type { Message } from "../../../server/call.ts";
import { iso, type Reason } from "../../../server/history.ts";
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
const stateEvents = (call: VonageCall, sign: SignWebhook): readonly Message[] => {
  const { served, fields } = call;
  const { facts } = served;
  const now = served.timeline.now();
  const eventsFor = (status: string, more: Fields = {}) => {
    const body = {
      ...subjectOf(call),
      status,
      direction: "outbound",
      timestamp: iso(now),
      ...more,
    };
    return eventOf(`${served.id}.${status}`, status, body, { target: fields.events, sign });
  };
  const ended = endFields(facts.answered_at, now);
  const ending = served.state === "failed" ? endingOf(facts.reason) : undefined;
  if (!ending) {
    const isOver = served.state === "completed";
    const isLimit = facts.reason === "max_duration";
    const disconnected_by = isLimit ? "platform" : call.endedBy;
    return eventsFor(statusOf(facts), isOver ? { ...ended, disconnected_by } : {});
  }
  const { status, detail, isCompleted } = ending;
  return [
    ...eventsFor(status, detail === undefined ? {} : { detail }),
    ...(isCompleted ? eventsFor("completed", ended) : []),
  ];
};

/** Ends the running recording. Returns the event of it. */
export const endRecording = (call: VonageCall, sign: SignWebhook): readonly Message[] => {
  const { served, conversation, recording, origin } = call;
  if (!recording) return [];
  call.recording = undefined;
  const { id, from, events } = recording;
  const to = served.talkTime;
  const { answered_at = 0 } = served.facts;
  const url = recordingUrlOf(origin, id);
  served.log({ type: "recording", url, seconds: (to - from) / 1000 });
  const body: Fields = {
    start_time: iso(answered_at + from),
    end_time: iso(answered_at + to),
    recording_url: url,
    recording_uuid: id,
    // One channel of 16 bits at 8 kHz, from the answer on.
    size: 44 + Math.round(to * 16),
    conversation_uuid: conversation,
    timestamp: iso(served.timeline.now()),
  };
  return eventOf(id, "record", body, { target: events, sign });
};

/** The notifications that are due when the state of a call has changed. */
export const messagesOf = (call: VonageCall, sign: SignWebhook): readonly Message[] => [
  ...stateEvents(call, sign),
  ...(call.served.isOver ? endRecording(call, sign) : []),
];

/** The event of what answered. */
export const machineMessages = (
  call: VonageCall,
  status: "human" | "machine",
  sub_state: "beep_start" | "beep_timeout" | undefined,
  sign: SignWebhook,
): readonly Message[] => {
  const { served, fields } = call;
  const { uuid, ...subject } = subjectOf(call);
  const body: Fields = {
    ...subject,
    call_uuid: uuid,
    status,
    ...(sub_state && { sub_state }),
    timestamp: iso(served.timeline.now()),
  };
  const id = [served.id, status, sub_state].filter(Boolean).join(".");
  return eventOf(id, status, body, { target: fields.events, sign });
};

/** The event of a transfer, which leads a call into another conversation. */
export const transferMessages = (
  { served, fields }: VonageCall,
  from: string,
  to: string,
  sign: SignWebhook,
): readonly Message[] => {
  const body: Fields = {
    conversation_uuid_from: from,
    conversation_uuid_to: to,
    uuid: served.id,
    type: "transfer",
    timestamp: iso(served.timeline.now()),
  };
  return eventOf(`${served.id}.transfer.${to}`, "transfer", body, { target: fields.events, sign });
};

/** The event of an NCCO that can't be followed. */
export const errorMessages = (
  call: VonageCall,
  reason: string,
  sign: SignWebhook,
): readonly Message[] => {
  const { served, conversation, fields } = call;
  const body: Fields = {
    reason,
    conversation_uuid: conversation,
    timestamp: iso(served.timeline.now()),
  };
  return eventOf(`${served.id}.error`, "error", body, { target: fields.events, sign });
};

/** A leg that an action adds to a call. */
export class ConnectedLeg {
  readonly #call: VonageCall;
  readonly #id: string;
  readonly #ends: { readonly from: string; readonly to: string };
  readonly #conversation: string;
  #answeredAt: number | undefined;

  /** @param ends - who calls whom: E.164, or a URI */
  constructor(call: VonageCall, id: string, ends: { readonly from: string; readonly to: string }) {
    this.#call = call;
    this.#id = id;
    this.#ends = ends;
    this.#conversation = call.conversation;
  }

  /** The fields of an event of the leg. */
  fields(status: string, more: Fields = {}): Fields {
    const { served } = this.#call;
    const { from, to } = this.#ends;
    return {
      from: digitsOf(from),
      to: digitsOf(to),
      uuid: this.#id,
      conversation_uuid: this.#conversation,
      status,
      direction: "outbound",
      timestamp: iso(served.timeline.now()),
      ...more,
    };
  }

  answered(): void {
    this.#answeredAt = this.#call.served.timeline.now();
  }

  /** The fields of the event by which a leg failed; `undefined` for one that was answered. */
  failedFields(reason: Reason | undefined): Fields | undefined {
    const ending = endingOf(reason);
    return ending && this.fields(ending.status, ending.detail ? { detail: ending.detail } : {});
  }

  /** The fields of its last event. */
  completedFields(): Fields {
    return this.fields("completed", endFields(this.#answeredAt, this.#call.served.timeline.now()));
  }

  /** An event as a notification. */
  message(fields: Fields, parts: EventParts): readonly Message[] {
    const status = String(fields.status);
    return eventOf(`${this.#id}.${status}`, `leg ${status}`, fields, parts);
  }
}
