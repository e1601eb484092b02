import type { Sign } from "../account.ts";
import type { Message, ServedCall, StoredMessage } from "../call.ts";
import { type CallFacts, type CallState, iso } from "../history.ts";
import type { NewId, Random } from "../ids.ts";

/** A status notification as it is sent. */
interface Notification {
  readonly id: string;
  readonly type: string;
  readonly api_version: string;
  readonly occurred_at: string;
  readonly account_id: string;
  readonly call_id: string;
  readonly data: object;
}

/** The data of each state beside the numbers. */
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

/** What a notification says of a call. */
interface Said {
  readonly type: string;
  readonly data: object;
}

/** What the notification of a call's current state says. */
const stateOf = (call: CallFacts): Said => ({
  type: `call.${call.state}`,
  data: details[call.state](call),
});

const notificationOf = (
  id: string,
  account_id: string,
  call: CallFacts,
  { type, data }: Said,
  now: number,
): Notification => ({
  id,
  type,
  api_version: "2026-06-01",
  occurred_at: iso(now),
  account_id,
  call_id: call.id,
  data: {
    call_id: call.id,
    from: call.from_number,
    to: call.to_number,
    ...data,
  },
});

/** What notifications are made with. */
interface NotificationParts {
  readonly accountId: string;
  readonly newId: NewId;
  readonly random: Random;
  readonly sign: Sign;
}

const maxAttempts = 6;

/** Milliseconds before the second attempt; each further delay is twice as long. */
const firstRetryDelay = 1_000;

/** Statuses after which a notification is not retried. */
export const finalStatuses: ReadonlySet<number> = new Set([400, 401, 403, 404, 410]);

/** Signs a notification, and plans its attempts. */
export const signedMessage =
  ({ random, sign }: Pick<NotificationParts, "random" | "sign">) =>
  (stored: StoredMessage): Message => ({
    ...stored,
    headers: () => {
      const { id, body } = stored;
      // Real time, as a receiver's tolerance is in real minutes.
      const timestamp = String(Math.floor(Date.now() / 1000));
      return {
        "Content-Type": "application/json",
        "webhook-id": id,
        "webhook-timestamp": timestamp,
        "webhook-signature": sign(`${id}.${timestamp}.${body}`),
      };
    },
    // Jitter from 0.5 to 1.5, so that not all calls reach a receiver at the same moment.
    retryDelay: (attempts, { status = 0 }) =>
      attempts < maxAttempts && !finalStatuses.has(status)
        ? firstRetryDelay * 2 ** (attempts - 1) * (0.5 + random())
        : undefined,
  });

/** Returns the notification of a call: that of its current state by default. */
export const notifications = (parts: NotificationParts) => {
  const { accountId, newId } = parts;
  const messageFrom = signedMessage(parts);
  return (call: ServedCall, said: Said = stateOf(call.facts)): Message => {
    const now = call.timeline.now();
    const id = `evt_${newId(now)}`;
    const notification = notificationOf(id, accountId, call.facts, said, now);
    const url = call.params.status_callback_url;
    const body = JSON.stringify(notification);
    return messageFrom({ id, event: notification.type, url, method: "POST", body });
  };
};
