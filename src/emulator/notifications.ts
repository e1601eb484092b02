import type { Sign } from "./account.ts";
import type { Call, Message } from "./call.ts";
import { type CallFacts, type CallState, iso, type NotificationEntry } from "./history.ts";
import type { NewId, Random } from "./ids.ts";
import type { Faults } from "./options.ts";
import type { Requester, RequestResult, RequestRules } from "./outgoing.ts";

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

/** The notification of a call's current state. */
const notificationOf = (
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

/** The faults of one notification. */
interface InjectedFaults {
  readonly isLost: boolean;
  /** Milliseconds after which it is sent again. */
  readonly duplicateDelay?: number | undefined;
  /** Milliseconds after which it is sent. */
  readonly delay?: number | undefined;
}

const drawFaults = (
  { lost = 0, doubled = 0, late = 0, delay = 10_000, duplicateDelay = delay }: Faults,
  random: Random,
): InjectedFaults => ({
  isLost: random() < lost,
  duplicateDelay: random() < doubled ? random() * duplicateDelay : undefined,
  delay: random() < late ? random() * delay : undefined,
});

/** What the notifier needs of the emulator. */
export interface NotifierParts {
  readonly accountId: string;
  readonly request: Requester;
  readonly random: Random;
  readonly newId: NewId;
  readonly sign: Sign;
  readonly faults?: Faults | undefined;
}

const maxAttempts = 6;

/** Milliseconds before the second attempt; each further delay is twice as long. */
const firstRetryDelay = 1_000;

/** Statuses after which a notification is not retried. */
const finalStatuses: ReadonlySet<number> = new Set([400, 401, 403, 404, 410]);

/** How many bytes of a response the history keeps. */
const maxResponse = 2_048;

const decoder = new TextDecoder();

type AttemptResult = Pick<NotificationEntry, "ms" | "status" | "error" | "response">;

const resultOf = ({ ms, response, body, error }: RequestResult): AttemptResult => {
  if (!response) return { ms, error: error ?? "no answer" };
  const { status, ok, type } = response;
  const redirects = (status >= 300 && status < 400) || type === "opaqueredirect";
  return {
    ms,
    status,
    ...(!ok && { error: redirects ? "redirects, which is refused" : `HTTP ${status}` }),
    ...(body && { response: { body: decoder.decode(body.bytes) } }),
  };
};

/** Sends the notifications of each call in order, at least once, independent of other calls. */
export class Notifier {
  readonly #parts: NotifierParts;

  constructor(parts: NotifierParts) {
    this.#parts = parts;
  }

  /** Sends the notification of the call's current state, after those that are pending. */
  notify(call: Call): void {
    const { accountId, newId, faults } = this.#parts;
    const now = call.timeline.now();
    const id = `evt_${newId(now)}`;
    const notification = notificationOf(id, accountId, call.facts, now);
    const body = JSON.stringify(notification);
    call.pendingNotifications.push({ id, event: notification.type, body });
    if (call.pendingNotifications.length > 1) return;
    call.delivered = faults
      ? this.#deliverWithFaults(call, faults, call.delivered)
      : call.notificationTimeline.run(() =>
          this.#inOrder(call, (message) => this.#deliver(call, message)),
        );
  }

  async #inOrder(call: Call, deliver: (message: Message) => Promise<void>): Promise<void> {
    const pending = call.pendingNotifications;
    for (let message = pending[0]; message; message = pending[0]) {
      await deliver(message);
      pending.shift();
    }
  }

  /** Delivers in order, apart from faults, and waits for delayed and duplicate deliveries too. */
  async #deliverWithFaults(call: Call, faults: Faults, before: Promise<void>): Promise<void> {
    const deliveries = [before];
    const deliverAfter = (message: Message, delay: number) =>
      call.notificationTimeline.run(async () => {
        await call.notificationTimeline.wait(delay);
        await this.#deliver(call, message);
      });
    await call.notificationTimeline.run(() =>
      this.#inOrder(call, async (message) => {
        const { isLost, duplicateDelay, delay } = drawFaults(faults, this.#parts.random);
        if (isLost) return this.#logLost(call, message);
        if (delay === undefined) await this.#deliver(call, message);
        else deliveries.push(deliverAfter(message, delay));
        if (duplicateDelay !== undefined) {
          deliveries.push(deliverAfter(message, (delay ?? 0) + duplicateDelay));
        }
      }),
    );
    await Promise.all(deliveries);
  }

  #logLost(call: Call, { id, event, body }: Message): void {
    call.log({
      type: "notification",
      id,
      event,
      try: 1,
      outcome: "given_up",
      ms: 0,
      error: "lost by the option `notifications`",
      request: { url: call.params.status_callback_url, headers: {}, body },
    });
  }

  async #deliver(call: Call, message: Message): Promise<void> {
    const { id, event } = message;
    const { signal } = call.removed;
    for (let count = 1; !signal.aborted; count++) {
      const result = await this.#attempt(call, message);
      if (signal.aborted) return;
      const isFinal = count === maxAttempts || finalStatuses.has(result.status ?? 0);
      const outcome = !result.error ? "delivered" : isFinal ? "given_up" : "retrying";
      const entry = { type: "notification", id, event, try: count, outcome, ...result } as const;
      if (outcome !== "retrying") return call.log(entry);
      // Jitter from 0.5 to 1.5, so that not all calls reach a receiver at the same moment.
      const delay = firstRetryDelay * 2 ** (count - 1) * (0.5 + this.#parts.random());
      call.log({ ...entry, next_at: iso(call.notificationTimeline.now() + delay) });
      await call.notificationTimeline.wait(delay);
    }
  }

  async #attempt(
    call: Call,
    { id, body }: Message,
  ): Promise<AttemptResult & Pick<NotificationEntry, "request">> {
    const { request, sign } = this.#parts;
    const url = call.params.status_callback_url;
    // Real time, as a receiver's tolerance is in real minutes.
    const timestamp = String(Math.floor(Date.now() / 1000));
    const headers = {
      "Content-Type": "application/json",
      "webhook-id": id,
      "webhook-timestamp": timestamp,
      "webhook-signature": sign(`${id}.${timestamp}.${body}`),
    };
    const { signal } = call.removed;
    const rules: RequestRules = {
      limit: maxResponse,
      redirects: "none",
      local: call.local,
      signal,
    };
    const result = await request(url, { method: "POST", headers, body }, rules);
    return { ...resultOf(result), request: { url, headers, body } };
  }
}
