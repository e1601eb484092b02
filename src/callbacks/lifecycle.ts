import type { CompletedEvent, Event, FailedEvent, UnknownEvent } from "./event.ts";

/** How far a call has come with an event; `0` for one that says nothing about that. */
const ranks: ReadonlyMap<string, number> = /* @__PURE__ */ new Map([
  ["call.ringing", 1],
  ["call.answered", 2],
  ["call.completed", 3],
  ["call.failed", 3],
]);

const rank = (type: string): number => ranks.get(type) ?? 0;

/**
 * Whether a call has ended with this event, so that nothing follows it.
 *
 * @example Close an order with its call
 * ```ts
 * import { type Event, isFinal } from "outdial/callbacks";
 *
 * const event: Event = {
 *   known: true,
 *   type: "call.failed",
 *   call_id: "cs_1",
 *   data: { reason: "busy" },
 * };
 * if (isFinal(event)) console.log(event.call_id, event.data.reason); // cs_1 busy
 * ```
 */
export const isFinal = (event: Event | UnknownEvent): event is CompletedEvent | FailedEvent =>
  event.known && (event.type === "call.completed" || event.type === "call.failed");

/**
 * Whether the events of one call show that the telephone rang. A call that nobody answered did; one
 * that was busy, rejected or unreachable only if the service said `call.ringing` before.
 *
 * @param events - what has come so far, in any order
 *
 * @example Try another time only where nobody was disturbed
 * ```ts
 * import { didRing, type Event } from "outdial/callbacks";
 *
 * const events: Event[] = [
 *   { known: true, type: "call.initiated", call_id: "cs_1", data: {} },
 *   { known: true, type: "call.failed", call_id: "cs_1", data: { reason: "unreachable" } },
 * ];
 * console.log(didRing(events)); // false
 * ```
 */
export const didRing = (events: Iterable<Event | UnknownEvent>): boolean => {
  for (const { type, data } of events) {
    if (type === "call.failed" ? Object(data).reason === "no_answer" : rank(type) > 0) return true;
  }
  return false;
};

/** When an event happened; the older payload form doesn't say, and comes first. */
const time = ({ occurred_at }: Event | UnknownEvent): number => Date.parse(occurred_at ?? "") || 0;

/**
 * Compares two events by when they happened, and where that is the same or not known by the course of
 * a call. Deliveries can overtake each other: a failed one is tried again later.
 *
 * @returns below 0 when the first is the earlier one, as `sort` wants it
 *
 * @example Put the events of a call in order
 * ```ts
 * import { byOccurrence, type Event } from "outdial/callbacks";
 *
 * const call = { known: true, call_id: "cs_1", data: {} } as const;
 * const events: Event[] = [
 *   { ...call, type: "call.answered", occurred_at: "2026-06-01T10:00:07Z" },
 *   { ...call, type: "call.ringing", occurred_at: "2026-06-01T10:00:02Z" },
 * ];
 * console.log(events.sort(byOccurrence).map(({ type }) => type)); // [ "call.ringing", "call.answered" ]
 * ```
 */
export const byOccurrence = (first: Event | UnknownEvent, second: Event | UnknownEvent): number =>
  time(first) - time(second) || rank(first.type) - rank(second.type);
