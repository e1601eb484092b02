import type { Message, ServedCall } from "../../../server/call.ts";
import type { CallFacts, Reason } from "../../../server/history.ts";
import type { CallFields, Next } from "./fields.ts";
import type { CallRecording } from "./recordings.ts";

/** A call on a carrier with markup: the state that other carriers do not have. */
export interface MarkupCall {
  /** The call, as each carrier has it. */
  readonly served: ServedCall;
  /** The account in requests about the call. */
  readonly accountSid: string;
  readonly fields: CallFields;
  /** How many events of the call were sent. */
  eventCount: number;
  /** Whether its telephone has rung. */
  hasRung: boolean;
  /** Who ends the call: whoever is called, or the flow and the API. */
  endedBy: "callee" | "caller";
  /** What answered, once it is known. */
  answeredBy: string | undefined;
  /** Its recordings, the oldest first; those that were deleted are left out. */
  readonly recordings: CallRecording[];
  /** The URL of a recording. */
  readonly recordingUrl: (sid: string) => string;
  /** Sends notifications of the call; absent while it isn't answered. */
  notify: ((messages: readonly Message[]) => void) | undefined;
  /** Makes the call continue elsewhere; absent while it isn't answered. */
  redirect: ((next: Next) => void) | undefined;
}

const states = { initiated: "initiated", ringing: "ringing", answered: "in-progress" } as const;

/** The status of a call that nobody answered, by the reason. */
export type Failures = Readonly<Partial<Record<Reason, string>>>;

/** The status of a call in requests to the application. */
export const statusOf = (
  { state, reason = "normal" }: Pick<CallFacts, "state" | "reason">,
  failures: Failures,
): string =>
  state === "completed" || state === "failed" ? (failures[reason] ?? "completed") : states[state];

/** A time in RFC 2822, by its milliseconds since 1970. */
export const rfc2822 = (time: number): string =>
  new Date(time).toUTCString().replace("GMT", "+0000");
