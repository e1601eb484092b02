import type { HistoryEntry } from "./history.ts";
import type { CallState, Reason } from "./states.ts";

/** A call as it is at a moment. */
export interface CallFacts {
  /** What `calls.create` gave. */
  readonly id: string;
  /** Where it stands from then on. */
  readonly state: CallState;
  /** Why it is over. */
  readonly reason?: Reason;
  /** Who calls, in E.164. */
  readonly from_number: string;
  /** Who is called, in E.164. */
  readonly to_number: string;
  /** Where the flow is asked for, once the call is answered. */
  readonly flow_url: string;
  /** Where the notifications go. */
  readonly status_callback_url: string;
  /** Whether it is recorded. */
  readonly record: boolean;
  /** Milliseconds since 1970, by the emulator's clock. */
  readonly initiated_at: number;
  /** Absent until somebody answers. */
  readonly answered_at?: number;
  /** Absent until it is over. */
  readonly ended_at?: number;
  /** Whole seconds from the answer to the end. */
  readonly duration?: number;
  /** Where the recording is, once there is one. */
  readonly recording_url?: string;
  /** Why the flow could not be followed, when that is the reason. */
  readonly flow_error?: string;
}

/** A call as it is at a moment, and all that happened in it. */
export interface CallRecord extends CallFacts {
  /** In order, notifications among it as they were tried. */
  readonly history: readonly HistoryEntry[];
}
