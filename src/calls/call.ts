import { type CustomSchema, custom } from "valibot";
import type { EventData } from "../callbacks/event.ts";
import { fieldsOf, isText } from "../lib/check.ts";

/** What `calls.create` gives: a placed call. */
export interface Call {
  /** The call's id at the service: the `call_id` of its notifications, unless the service gives others. */
  readonly id: string;
  /** Whatever else the service sent, as it sent it. */
  readonly [field: string]: unknown;
}

/**
 * A placed call: its `id`, and whatever else the service sent, as it sent it. Only the id is checked:
 * a call that was placed must not turn into an exception over a field that nobody needs.
 *
 * @example Read a call from a store
 * ```ts
 * import { Call } from "outdial/calls";
 * import { parse } from "valibot";
 *
 * const call = parse(Call, JSON.parse('{ "id": "cs_1", "record": true }'));
 * console.log(call.id); // cs_1
 * ```
 */
export const Call: CustomSchema<Call, string> = custom((value) => {
  const { id } = fieldsOf(value);
  return isText(id) && !!id;
}, "has no id");

/** The state of a call: the last of its events without `call.`. `"failed"`: it was never answered, and is over. */
export type LiveState = "initiated" | "ringing" | "answered" | "completed" | "failed";

/** A call as the service knows it at this moment: the same fields for every service, in the words of the events. */
export interface LiveCall {
  /** The id that `calls.create` gave. */
  readonly id: string;
  /** Who called: E.164, or a SIP address; empty if the service names nobody. */
  readonly from_number: string;
  /** Who was called, in the same form. */
  readonly to_number: string;
  /** How far it has come. */
  readonly state: LiveState;
  /** Why it is over, as far as the service says it here: its last notification may say more. */
  readonly reason?: EventData["reason"];
  /** Whole seconds from the answer to the end. */
  readonly duration?: number | undefined;
  /** What the carrier charges for the call, as the text that it reports; some know it only minutes after the end. */
  readonly cost?: EventData["cost"];
  /** The currency of `cost`, ISO 4217, if the carrier names it. */
  readonly currency?: EventData["currency"];
  /** Who answered, if the service detects machines and says it here. */
  readonly answered_by?: EventData["answered_by"];
  /** The service's own object, as it sent it. */
  readonly raw: Readonly<Record<string, unknown>>;
}

/** Whether an id is that of the call that was asked for: a service may write it in other letters. */
export const isOfCall = (id: unknown, asked: string): boolean =>
  isText(id) && id.toLowerCase() === asked.toLowerCase();

/** The state that a call is in after each event. */
export const stateAfter: ReadonlyMap<unknown, LiveState> = new Map<unknown, LiveState>([
  ["call.initiated", "initiated"],
  ["call.ringing", "ringing"],
  ["call.answered", "answered"],
  ["call.completed", "completed"],
  ["call.failed", "failed"],
]);
