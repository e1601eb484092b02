import type { CallEvent, EventData, FailedEvent } from "../callbacks/event.ts";
import type { Branch } from "../flows/continuation.ts";

/** What a `CallStatus` means. */
export interface Status {
  readonly type: CallEvent["type"];
  readonly reason?: FailedEvent["data"]["reason"];
  /** The field of the event's data that has its `Timestamp`. */
  readonly time?: keyof Pick<EventData, "start_time" | "answer_time" | "hangup_time">;
}

const failed = (reason: Status["reason"]): Status => ({
  type: "call.failed",
  reason,
  time: "hangup_time",
});

/**
 * The event of each `CallStatus`, of Twilio's and of Telnyx's, which took over the words. `queued` is in no
 * notification.
 *
 * @see https://www.twilio.com/docs/voice/api/call-resource#call-status-values and
 * https://developers.telnyx.com/api-reference/callbacks/texml-call-completed
 */
export const statuses: ReadonlyMap<unknown, Status> = new Map([
  ["initiated", { type: "call.initiated", time: "start_time" }],
  ["ringing", { type: "call.ringing" }],
  ["in-progress", { type: "call.answered", time: "answer_time" }],
  ["completed", { type: "call.completed", time: "hangup_time" }],
  ["busy", failed("busy")],
  ["no-answer", failed("no_answer")],
  ["canceled", failed("canceled")],
  ["failed", failed("unreachable")],
]);

/** The branch of a `dial` for each `DialCallStatus`; after any other, the call continues at its `flow_url`. */
export const branches: ReadonlyMap<unknown, Branch> = new Map([
  ["busy", "on_busy"],
  ["no-answer", "on_no_answer"],
  ["failed", "on_failure"],
]);
