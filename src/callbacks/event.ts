import { custom, type GenericSchema, pipe, transform } from "valibot";
import { fieldsOf } from "../lib/check.ts";

/** One of the known strings, which editors complete, or another that the service has added since. */
export type OpenUnion<Known extends string> = Known | (string & Record<never, never>);

/** What answered a call: all but `human` and `unknown` are machines. */
export type AnsweredBy =
  | "human"
  | "machine_start"
  | "machine_end_beep"
  | "machine_end_silence"
  | "machine_end_other"
  | "fax"
  | "unknown";

/** The fields that an event's `data` may have. One with a value of the wrong type is left out. */
export interface EventData {
  /** E.164. */
  readonly from?: string | undefined;
  /** E.164. */
  readonly to?: string | undefined;
  /** ISO 8601, UTC. */
  readonly start_time?: string | undefined;
  /** ISO 8601, UTC. */
  readonly answer_time?: string | undefined;
  /** ISO 8601, UTC. */
  readonly hangup_time?: string | undefined;
  /** Whole seconds since the answer. */
  readonly duration?: number | undefined;
  /** What the carrier charges for the call, as the text that it reports, such as `"0.00834"`. */
  readonly cost?: string | undefined;
  /** The currency of `cost`, ISO 4217, if the carrier names it. */
  readonly currency?: string | undefined;
  /** Why the call ended, or was never answered. */
  readonly reason?:
    | OpenUnion<
        | "normal"
        | "flow_error"
        | "max_duration"
        | "busy"
        | "no_answer"
        | "rejected"
        | "unreachable"
        | "canceled"
        | "lost"
      >
    | undefined;
  /** Where the recording is, when there is one. */
  readonly recording_url?: string | undefined;
  /** Who answered, if the carrier detects machines. */
  readonly answered_by?: OpenUnion<AnsweredBy> | undefined;
  /** `true` once a machine's greeting is over: it records from now on. */
  readonly beep?: boolean | undefined;
}

/** The fields that every notification may have; the older payload form has only `account_id`. */
export interface EventStamp {
  /** The same on every delivery of one event: act once for each. */
  readonly id?: string | undefined;
  /** The form of the notification, a date. */
  readonly api_version?: string | undefined;
  /** When it happened: ISO 8601, UTC. */
  readonly occurred_at?: string | undefined;
  /** The account whose call it is. */
  readonly account_id?: string | undefined;
}

/**
 * A status notification of one type. Fields that aren't here are kept as they came, outside of its type:
 * `"region" in event && event.region`.
 */
export interface CallEventOf<Type extends string, Field extends keyof EventData = never>
  extends EventStamp {
  /** Set by outdial: `type` is one of the six, and the id of a call is there. */
  readonly known: true;
  /** What happened. */
  readonly type: Type;
  /** The id that `calls.create` gave. */
  readonly call_id: string;
  /** The details; `{}` when the service sends none. */
  readonly data: Pick<EventData, "from" | "to" | Field>;
}

/** The service dials. */
export type InitiatedEvent = CallEventOf<"call.initiated", "start_time">;

/** The telephone rings. */
export type RingingEvent = CallEventOf<"call.ringing">;

/** Somebody answered, and the call flow starts. */
export type AnsweredEvent = CallEventOf<"call.answered", "answer_time" | "answered_by">;

/**
 * The carrier has found out what answered, while the flow runs: Vonage, and Twilio and Telnyx with a detection that
 * doesn't wait. A machine may be reported twice: when it is found, and with `beep: true` when its greeting is over.
 */
export type MachineDetectedEvent = CallEventOf<"call.machine_detected", "answered_by" | "beep">;

/** The call was answered, and has ended. */
export type CompletedEvent = CallEventOf<
  "call.completed",
  "duration" | "cost" | "currency" | "hangup_time" | "reason" | "recording_url" | "answered_by"
>;

/** The call was never answered, and has ended. */
export type FailedEvent = CallEventOf<
  "call.failed",
  "reason" | "hangup_time" | "cost" | "currency"
>;

/**
 * A type that is none of the six: what services send beside them. A plain `string` has to be left out here, as then no
 * comparison with one of the six would narrow an event; what else may come is compared as `String(event.type)`.
 */
export type OtherType =
  | `call.flow_${string}`
  | `${"account" | "conference" | "dtmf" | "flow" | "leg" | "machine" | "media" | "message"}.${string}`
  | `${"recording" | "speech" | "stream" | "transcription"}.${string}`;

/**
 * A status notification that this version doesn't know: of another type, such as `stream.started`,
 * `recording.completed` or `leg.answered`, or without the id of a call.
 */
export type UnknownEvent = EventStamp & {
  /** Set by outdial: that `type` is none of the six, or `call_id` is null. */
  readonly known: false;
  /** The id that `calls.create` gave, if it is about one call. */
  readonly call_id: string | null;
  /** What the service sends beyond these fields. */
  readonly [field: string]: unknown;
} & (
    | {
        /** What happened to a call whose id is absent. */
        readonly type: CallEvent["type"];
        /** The details; `{}` when the service sends none. */
        readonly data: EventData & Readonly<Record<string, unknown>>;
      }
    | {
        /** What happened: compare a type that isn't listed here as `String(event.type)`. */
        readonly type: OtherType;
        /** The details, unchecked. */
        readonly data: Readonly<Record<string, unknown>> | null;
      }
  );

/**
 * A status notification about a call. A `switch` over `type` narrows `data` to the fields of each of the six; after
 * `if (event.known)` also `call_id` is a string.
 */
export type CallEvent =
  | InitiatedEvent
  | RingingEvent
  | AnsweredEvent
  | MachineDetectedEvent
  | CompletedEvent
  | FailedEvent;

const types: ReadonlySet<unknown> = new Set<CallEvent["type"]>([
  "call.initiated",
  "call.ringing",
  "call.answered",
  "call.machine_detected",
  "call.completed",
  "call.failed",
]);

/** The `typeof` of each field. */
type Kinds = Readonly<Record<string, string>>;

const kindsOfStamp = {
  id: "string",
  api_version: "string",
  occurred_at: "string",
  account_id: "string",
} satisfies Record<keyof EventStamp, unknown>;

const kindsOfData = {
  from: "string",
  to: "string",
  start_time: "string",
  answer_time: "string",
  hangup_time: "string",
  duration: "number",
  cost: "string",
  currency: "string",
  reason: "string",
  recording_url: "string",
  answered_by: "string",
  beep: "boolean",
} satisfies Record<keyof EventData, unknown>;

/** The fields of an object, without those of the wrong type. */
const valid = (fields: object, kinds: Kinds): object =>
  Object.fromEntries(
    Object.entries(fields).filter(([name, value]) =>
      Object.hasOwn(kinds, name)
        ? // The number 1e999 of JSON is infinite.
          typeof value === kinds[name] && value !== Infinity && value !== -Infinity
        : name !== "__proto__",
    ),
  );

const isName = (value: unknown): value is string => typeof value === "string" && value !== "";

/**
 * The newer of the two payload forms: the older has `event` for `type`, and the call's id only in `data`.
 * An id that is absent or wrong becomes null, any other field is left out: a refused notification
 * is not sent again, so it would be lost.
 */
const inNewerForm = (payload: unknown): unknown => {
  const { event, type = event, data, call_id, ...others } = fieldsOf(payload);
  const id = [call_id, fieldsOf(data).call_id].find(isName) ?? null;
  const isOfSix = types.has(type);
  const details =
    typeof data === "object" && data !== null ? valid(data, isOfSix ? kindsOfData : {}) : null;
  return {
    ...valid(others, kindsOfStamp),
    known: isOfSix && id !== null,
    type,
    call_id: id,
    data: isOfSix ? (details ?? {}) : details,
  };
};

const isEvent = (value: unknown): value is CallEvent | UnknownEvent => isName(fieldsOf(value).type);

/** The event in a payload of either form; `undefined` when it has no `type`. */
export const eventIn = (payload: unknown): CallEvent | UnknownEvent | undefined => {
  const event = inNewerForm(payload);
  return isEvent(event) ? event : undefined;
};

/**
 * The schema of a status notification. It accepts both payload forms and outputs the newer one. Only
 * `type` is required. `known` is false unless `type` is one of the six and the id of a call is there.
 *
 * @example Read a notification that a queue has kept
 * ```ts
 * import { CallEvent } from "outdial/callbacks";
 * import { parse } from "valibot";
 *
 * const older = '{ "event": "call.ringing", "data": { "call_id": "cs_1", "to": "+12025550100" } }';
 * const event = parse(CallEvent, JSON.parse(older));
 * console.log(event.known, event.type, event.call_id); // true call.ringing cs_1
 * ```
 */
export const CallEvent: GenericSchema<unknown, CallEvent | UnknownEvent> = pipe(
  custom<unknown>(() => true),
  transform(inNewerForm),
  custom<CallEvent | UnknownEvent>(isEvent, "type must be a string that isn't empty"),
);

/** The order of the events of a call; `0` for any other event. */
const ranks: ReadonlyMap<string, number> = new Map([
  ["call.ringing", 1],
  ["call.answered", 2],
  ["call.machine_detected", 3],
  ["call.completed", 4],
  ["call.failed", 4],
]);

const rank = (type: string): number => ranks.get(type) ?? 0;

/**
 * Whether the call has ended with this event.
 *
 * @example Close an order with its call
 * ```ts
 * import { type CallEvent, isFinal } from "outdial/callbacks";
 *
 * const event: CallEvent = {
 *   known: true,
 *   type: "call.failed",
 *   call_id: "cs_1",
 *   data: { reason: "busy" },
 * };
 * if (isFinal(event)) console.log(event.call_id, event.data.reason); // cs_1 busy
 * ```
 */
export const isFinal = (event: CallEvent | UnknownEvent): event is CompletedEvent | FailedEvent =>
  event.known && (event.type === "call.completed" || event.type === "call.failed");

/**
 * Whether the events of one call show that the telephone rang. A call that nobody answered did; one
 * that was busy, rejected or unreachable only if the service said `call.ringing` before.
 *
 * @param events - what has come so far, in any order
 *
 * @example Try another time only where nobody was disturbed
 * ```ts
 * import { type CallEvent, didRing } from "outdial/callbacks";
 *
 * const events: CallEvent[] = [
 *   { known: true, type: "call.initiated", call_id: "cs_1", data: {} },
 *   { known: true, type: "call.failed", call_id: "cs_1", data: { reason: "unreachable" } },
 * ];
 * console.log(didRing(events)); // false
 * ```
 */
export const didRing = (events: Iterable<CallEvent | UnknownEvent>): boolean => {
  for (const { type, data } of events) {
    if (type === "call.failed" ? fieldsOf(data).reason === "no_answer" : rank(type) > 0)
      return true;
  }
  return false;
};

/** When an event happened; one of the older payload form has no time, and comes first. */
const time = ({ occurred_at }: CallEvent | UnknownEvent): number =>
  Date.parse(occurred_at ?? "") || 0;

/**
 * Compares two events by when they happened, and where that is equal or unknown by the order of a
 * call's events. Deliveries can overtake each other: a failed one is tried again later.
 *
 * @returns below 0 when the first is the earlier one, as `sort` needs it
 *
 * @example Put the events of a call in order
 * ```ts
 * import { byOccurrence, type CallEvent } from "outdial/callbacks";
 *
 * const call = { known: true, call_id: "cs_1", data: {} } as const;
 * const events: CallEvent[] = [
 *   { ...call, type: "call.answered", occurred_at: "2026-06-01T10:00:07Z" },
 *   { ...call, type: "call.ringing", occurred_at: "2026-06-01T10:00:02Z" },
 * ];
 * console.log(events.sort(byOccurrence).map(({ type }) => type)); // [ "call.ringing", "call.answered" ]
 * ```
 */
export const byOccurrence = (
  first: CallEvent | UnknownEvent,
  second: CallEvent | UnknownEvent,
): number => time(first) - time(second) || rank(first.type) - rank(second.type);
