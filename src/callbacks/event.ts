import { custom, type GenericSchema, pipe, transform } from "valibot";

/** One of the known words, which editors complete, or one that the service has added since. */
export type Word<Known extends string> = Known | (string & Record<never, never>);

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
  /** Why the call ended, or was never answered. */
  readonly reason?:
    | Word<
        | "normal"
        | "flow_error"
        | "max_duration"
        | "busy"
        | "no_answer"
        | "rejected"
        | "unreachable"
        | "canceled"
      >
    | undefined;
  /** Where the recording is, when there is one. */
  readonly recording_url?: string | undefined;
}

/** What every notification may say of itself; the older payload form says only whose account it is. */
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
export interface EventOf<Type extends string, Field extends keyof EventData = never>
  extends EventStamp {
  /** Set by outdial: that it is one of the five that it knows, and says which call it is about. */
  readonly known: true;
  /** What happened, in the service's word. */
  readonly type: Type;
  /** The id that `calls.create` gave. */
  readonly call_id: string;
  /** What the service says of it; `{}` when it says nothing. */
  readonly data: Pick<EventData, "from" | "to" | Field>;
}

/** The service dials. */
export type InitiatedEvent = EventOf<"call.initiated", "start_time">;

/** The telephone rings. */
export type RingingEvent = EventOf<"call.ringing">;

/** Somebody answered, and the call flow starts. */
export type AnsweredEvent = EventOf<"call.answered", "answer_time">;

/** The call was answered, and has ended. */
export type CompletedEvent = EventOf<
  "call.completed",
  "duration" | "hangup_time" | "reason" | "recording_url"
>;

/** The call was never answered, and has ended. */
export type FailedEvent = EventOf<"call.failed", "reason" | "hangup_time">;

/**
 * A status notification that this version doesn't know: of another type, such as `stream.started`,
 * `recording.completed` or `leg.answered`, or without the id of a call.
 */
export interface UnknownEvent extends EventStamp {
  /** Set by outdial: that `type` is none of the five, or `call_id` is null. */
  readonly known: false;
  /** What happened, in the service's word. */
  readonly type: Word<Event["type"]>;
  /** The id that `calls.create` gave, if it is about one call. */
  readonly call_id: string | null;
  /** What the service says of it, unchecked. */
  readonly data: Readonly<Record<string, unknown>> | null;
  /** What the service sends beyond these fields. */
  readonly [field: string]: unknown;
}

/**
 * A status notification about a call. After `if (event.known)`, a `switch` over `type` tells the five
 * apart, and each has the fields of its own in `data`.
 */
export type Event = InitiatedEvent | RingingEvent | AnsweredEvent | CompletedEvent | FailedEvent;

const types: ReadonlySet<unknown> = /* @__PURE__ */ new Set<Event["type"]>([
  "call.initiated",
  "call.ringing",
  "call.answered",
  "call.completed",
  "call.failed",
]);

/** What `typeof` says of a field, where there is one. */
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
  reason: "string",
  recording_url: "string",
} satisfies Record<keyof EventData, unknown>;

/** The fields of an object, without those that are something else than they should, or no field. */
const sound = (fields: object, kinds: Kinds): object =>
  Object.fromEntries(
    Object.entries(fields).filter(([name, value]) =>
      Object.hasOwn(kinds, name) ? typeof value === kinds[name] : name !== "__proto__",
    ),
  );

const isName = (value: unknown): value is string => typeof value === "string" && value !== "";

/**
 * One form of both: the older has `event` for `type`, and the call's id only in `data`. What is absent or
 * wrong is null where it is required and else left out: a notification that is refused is not sent
 * again, and lost.
 */
const inOneForm = (payload: unknown): unknown => {
  const { event, type = event, data, call_id, ...others } = Object(payload);
  const id = [call_id, Object(data).call_id].find(isName) ?? null;
  const known = id !== null && types.has(type);
  const said = Object(data) === data ? sound(data, known ? kindsOfData : {}) : null;
  return {
    ...sound(others, kindsOfStamp),
    known,
    type,
    call_id: id,
    data: known ? (said ?? {}) : said,
  };
};

/**
 * The schema of a status notification. It understands both payload forms and gives one. Only `type` is
 * required. What isn't one of the five known types with a call's id has `known: false`.
 *
 * @example Read a notification that a queue has kept
 * ```ts
 * import { Event } from "outdial/callbacks";
 * import { parse } from "valibot";
 *
 * const older = '{ "event": "call.ringing", "data": { "call_id": "cs_1", "to": "+12025550100" } }';
 * const event = parse(Event, JSON.parse(older));
 * console.log(event.known, event.type, event.call_id); // true call.ringing cs_1
 * ```
 */
export const Event: GenericSchema<unknown, Event | UnknownEvent> = /* @__PURE__ */ pipe(
  /* @__PURE__ */ custom<unknown>(() => true),
  /* @__PURE__ */ transform(inOneForm),
  /* @__PURE__ */ custom<Event | UnknownEvent>(
    (value) => isName(Object(value).type),
    "type must be a string that isn't empty",
  ),
);
