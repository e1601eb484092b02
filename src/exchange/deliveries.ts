import type { Delivery, Message, ServedCall, StoredMessage } from "../server/call.ts";
import { attempt } from "../server/delivery.ts";
import { iso, type NewEntry } from "../server/history.ts";
import { finalStatuses } from "../server/outdial/notifications.ts";
import type { Requester } from "../server/outgoing.ts";
import type { ExchangeEvent } from "./parts.ts";
import type { SideName, Store, StoredNotification } from "./store.ts";

/** How long a notification is tried, and how often after its first attempts, in milliseconds: signed URLs end after a day. */
const lifetime = 12 * 3_600_000;
const laterInterval = 3_600_000;

/** What notifications are sent with. */
export interface DeliveryParts {
  readonly store: Store;
  /** A stored notification, as its side sends it. */
  readonly messageOf: (side: SideName, stored: StoredMessage) => Message;
  readonly requesterOf: (side: SideName) => Requester;
  /** The rules for the requests about a call. */
  readonly rulesOf: (call_id: string, side: SideName) => Pick<ServedCall, "reach" | "warnOfPlain">;
  /** Adds an entry to the history of a call. */
  readonly log: (call_id: string, entry: NewEntry) => void;
  readonly onEvent: (event: ExchangeEvent) => void;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Calls a function after some milliseconds, until the returned function is called. */
  readonly after: (ms: number, action: () => void) => () => void;
}

/** Sends the notifications of each call from the store, in order and at least once, independent of other calls. */
export class Deliveries {
  readonly #parts: DeliveryParts;
  /** What cancels the wait of each call. */
  readonly #waiting = new Map<string, () => void>();
  readonly #sending = new Map<string, Promise<void>>();
  readonly #closing = new AbortController();
  readonly #closed = new Promise<void>((resolve) => {
    this.#closing.signal.addEventListener("abort", () => resolve());
  });

  constructor(parts: DeliveryParts) {
    this.#parts = parts;
  }

  /** Sends what is due of a call, and plans what isn't. */
  wake(call_id: string): void {
    if (this.#closing.signal.aborted || this.#sending.has(call_id)) return;
    this.#waiting.get(call_id)?.();
    this.#waiting.delete(call_id);
    const { store, now, after } = this.#parts;
    const next = store.pending(call_id);
    if (!next) return;
    const delay = next.next_at - now();
    if (delay > 0) {
      this.#waiting.set(
        call_id,
        after(delay, () => this.wake(call_id)),
      );
      return;
    }
    const sending = this.#send(next).finally(() => {
      this.#sending.delete(call_id);
      this.wake(call_id);
    });
    this.#sending.set(call_id, sending);
  }

  /** Goes on with what a process before has left. */
  resume(): void {
    for (const call_id of this.#parts.store.undelivered) this.wake(call_id);
  }

  /**
   * Sends a notification again.
   *
   * @returns whether it is known, and not delivered
   */
  resend(id: string): boolean {
    const { store, now } = this.#parts;
    const stored = store.notification(id);
    if (!stored || stored.state === "delivered") return false;
    const at = now();
    const again = { ...stored, state: "pending", attempts: 0, next_at: at } as const;
    store.write(() => store.saveNotification(id, again, at));
    this.wake(stored.call_id);
    return true;
  }

  /** Sends nothing more. What is under way is waited for; what isn't delivered stays in the store. */
  async close(): Promise<void> {
    this.#closing.abort();
    for (const cancel of this.#waiting.values()) cancel();
    this.#waiting.clear();
    await Promise.allSettled(this.#sending.values());
  }

  async #send(stored: StoredNotification): Promise<void> {
    const { store, messageOf, requesterOf, rulesOf, log, onEvent, now } = this.#parts;
    const { id, call_id, event, side } = stored;
    const message = messageOf(side, stored);
    const rules = rulesOf(call_id, side);
    const { signal } = new AbortController();
    const { failure, ...result } = await attempt(message, rules, requesterOf(side), signal);
    const attempts = stored.attempts + 1;
    const at = now();
    const delay = failure && this.#delayOf(stored, attempts, failure, message);
    const state = !failure ? "delivered" : delay === undefined ? "given_up" : "pending";
    const outcome = state === "pending" ? "retrying" : state;
    const { status, error, ms, response } = result;
    const next_at = Math.round(at + (delay ?? 0));
    const progress = { state, attempts, next_at, status, error, response: response?.body } as const;
    const saved = new Promise<void>((resolve) =>
      store.keep(() => store.saveNotification(id, progress), resolve),
    );
    log(call_id, {
      ...{ type: "notification", id, event, try: attempts, outcome, ...result },
      ...(delay !== undefined && { next_at: iso(next_at) }),
    });
    onEvent({ type: "notification", call_id, id, event, try: attempts, outcome, status, ms });
    // Until it is saved the store has it as one that is due.
    await Promise.race([saved, this.#closed]);
  }

  /** The milliseconds until the next attempt: first as the side has it, then each hour; `undefined` when there is none. */
  #delayOf(
    { made_at }: StoredNotification,
    attempts: number,
    failure: Delivery,
    { retryDelay }: Message,
  ): number | undefined {
    const delay = retryDelay(attempts, failure);
    if (delay !== undefined) return delay;
    if (finalStatuses.has(failure.status ?? 0)) return;
    return this.#parts.now() + laterInterval - made_at <= lifetime ? laterInterval : undefined;
  }
}
