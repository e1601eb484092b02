import {
  custom,
  exactOptional,
  fallback,
  type GenericSchema,
  looseObject,
  pipe,
  transform,
} from "valibot";

/** One of the known words, or one that the service has added since. */
type Word<Known extends string> = Known | (string & Record<never, never>);

/** The fields that `data` may have. One with a value of the wrong type is left out. */
interface Fields {
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

/** A status notification of one type. What the service sends beyond these fields is kept. */
export interface EventOf<Type extends string, Field extends keyof Fields = never> {
  /** The same on every delivery of one event; the older payload form has none. */
  readonly id?: string | undefined;
  readonly type: Type;
  /** The older payload form has none. */
  readonly api_version?: string | undefined;
  /** ISO 8601, UTC; the older payload form has none. */
  readonly occurred_at?: string | undefined;
  readonly account_id?: string | undefined;
  /** The id that `calls.create` gave. */
  readonly call_id: string;
  readonly data: Pick<Fields, "from" | "to" | Field> & { readonly [field: string]: unknown };
  readonly [field: string]: unknown;
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

/** A notification of a type that is newer than this version. */
export type UnknownEvent = EventOf<string, keyof Fields>;

/**
 * A status notification, told apart by `type`: a `switch` whose `default` is the unknown ones.
 *
 * @see contract.md, "Status notifications"
 */
export type Event =
  | InitiatedEvent
  | RingingEvent
  | AnsweredEvent
  | CompletedEvent
  | FailedEvent
  | UnknownEvent;

/** A wrong field is left out: a notification that is refused is not sent again, and lost. */
const text = /* @__PURE__ */ fallback(
  /* @__PURE__ */ exactOptional(
    /* @__PURE__ */ custom<string | undefined>((value) => typeof value === "string"),
  ),
  undefined,
);

const name = /* @__PURE__ */ custom<string>(
  (value) => typeof value === "string" && value !== "",
  "must be a string that isn't empty",
);

/** The older form has `event` for `type`, and the call's id only in `data`. */
const inOneForm = (payload: unknown): unknown => {
  const {
    event,
    type = event,
    data = {},
    call_id = Object(data).call_id,
    ...others
  } = Object(payload);
  return { ...others, type, call_id, data };
};

/**
 * The schema of a status notification. It understands both payload forms and gives one. Only what
 * says which call and what happened is required; a type that it doesn't know is data, not an error.
 *
 * @example Read a notification that a queue has kept
 * ```ts
 * import { Event } from "outdial/callbacks";
 * import { parse } from "valibot";
 *
 * const older = '{ "event": "call.ringing", "data": { "call_id": "cs_1", "to": "+12025550100" } }';
 * const event = parse(Event, JSON.parse(older));
 * console.log(event.type, event.call_id); // call.ringing cs_1
 * ```
 * @see contract.md, "Status notifications"
 */
export const Event: GenericSchema<unknown, Event> = /* @__PURE__ */ pipe(
  /* @__PURE__ */ custom<unknown>(() => true),
  /* @__PURE__ */ transform(inOneForm),
  /* @__PURE__ */ looseObject({
    id: text,
    type: name,
    api_version: text,
    occurred_at: text,
    account_id: text,
    call_id: name,
    data: /* @__PURE__ */ looseObject(
      {
        from: text,
        to: text,
        start_time: text,
        answer_time: text,
        hangup_time: text,
        duration: /* @__PURE__ */ fallback(
          /* @__PURE__ */ exactOptional(
            /* @__PURE__ */ custom<number | undefined>((value) => typeof value === "number"),
          ),
          undefined,
        ),
        reason: text,
        recording_url: text,
      },
      "must be an object",
    ),
  }),
);
