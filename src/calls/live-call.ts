import type { EventData } from "../callbacks/event.ts";

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

/** The state that a call is in after each event. */
export const stateAfter: ReadonlyMap<unknown, LiveState> = new Map<unknown, LiveState>([
  ["call.initiated", "initiated"],
  ["call.ringing", "ringing"],
  ["call.answered", "answered"],
  ["call.completed", "completed"],
  ["call.failed", "failed"],
]);
