import type { CallEvent, EventData, FailedEvent } from "../../callbacks/event.ts";
import { isText } from "../../lib/check.ts";

/** A number as Vonage writes it: digits without a `+`. */
export const digitsOf = (number: string): string => number.replace(/^\+/, "");

/** E.164 of a number as Vonage writes it; anything else, such as a SIP URI, as it is. */
export const numberOf = (value: unknown): string | undefined => {
  if (!isText(value)) return;
  return /^\d+$/.test(value) ? `+${value}` : value;
};

/** What a `status` means. */
export interface Status {
  readonly type: CallEvent["type"];
  readonly reason?: FailedEvent["data"]["reason"];
  /** The reason by `detail`, where that is more precise. */
  readonly details?: Readonly<Record<string, FailedEvent["data"]["reason"]>>;
  /** The field of the event's data that has its `timestamp`. */
  readonly time?: keyof Pick<EventData, "start_time" | "answer_time" | "hangup_time">;
}

const failed = (reason: Status["reason"], details: Status["details"] = {}): Status => ({
  type: "call.failed",
  reason,
  details,
  time: "hangup_time",
});

/**
 * The event of each `status`. A `completed` call that was never answered is a failed one: see `application.ts`.
 *
 * @see https://developer.vonage.com/en/voice/voice-api/webhook-reference#event-webhook
 */
export const statuses: ReadonlyMap<unknown, Status> = new Map<unknown, Status>([
  ["started", { type: "call.initiated", time: "start_time" }],
  ["ringing", { type: "call.ringing" }],
  ["answered", { type: "call.answered", time: "answer_time" }],
  ["completed", { type: "call.completed", reason: "normal", time: "hangup_time" }],
  ["busy", failed("busy")],
  ["timeout", failed("no_answer")],
  ["unanswered", failed("no_answer", { unavailable: "unreachable" })],
  ["rejected", failed("rejected", { invalid_number: "unreachable" })],
  ["failed", failed("unreachable")],
  ["cancelled", failed("canceled")],
]);

/** Who answered, by the `status` that says it: until the call ends, it is that of the call. */
export const answeredBy: ReadonlyMap<unknown, EventData["answered_by"]> = new Map([
  ["human", "human"],
  ["machine", "machine_start"],
]);

/**
 * Each `status` of the leg that a `connect` adds after which Vonage takes another NCCO. At any other, the call goes on with
 * what follows the `connect`.
 */
export const replacing: ReadonlySet<unknown> = new Set([
  "busy",
  "timeout",
  "unanswered",
  "rejected",
  "failed",
]);

/** The header of a WebSocket endpoint that brings the call's id, as Vonage's first message has none. */
export const callIdHeader = "call_id";
