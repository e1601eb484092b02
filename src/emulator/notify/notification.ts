import { iso } from "../line/iso.ts";
import type { CallFacts } from "../line/record.ts";
import type { CallState } from "../line/states.ts";

/** A status notification as it goes over the wire. */
export interface Notification {
  readonly id: string;
  readonly type: string;
  readonly api_version: string;
  readonly occurred_at: string;
  readonly account_id: string;
  readonly call_id: string;
  readonly data: object;
}

/** What each state says beside who calls whom. */
const details: Readonly<Record<CallState, (call: CallFacts) => object>> = {
  initiated: ({ initiated_at }) => ({ start_time: iso(initiated_at) }),
  ringing: () => ({}),
  answered: ({ answered_at }) => ({ answer_time: iso(answered_at ?? 0) }),
  completed: ({ duration, ended_at, reason, recording_url, flow_error }) => ({
    duration,
    hangup_time: iso(ended_at ?? 0),
    reason,
    recording_url,
    flow_error,
  }),
  failed: ({ reason, ended_at }) => ({ reason, hangup_time: iso(ended_at ?? 0) }),
};

/** The notification that a call has come into the state in which it is. */
export const notificationOf = (
  id: string,
  account_id: string,
  call: CallFacts,
  now: number,
): Notification => ({
  id,
  type: `call.${call.state}`,
  api_version: "2026-06-01",
  occurred_at: iso(now),
  account_id,
  call_id: call.id,
  data: {
    call_id: call.id,
    from: call.from_number,
    to: call.to_number,
    ...details[call.state](call),
  },
});
