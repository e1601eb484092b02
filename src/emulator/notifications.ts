import type { Message } from "../server/call.ts";
import { attempt } from "../server/delivery.ts";
import { iso } from "../server/history.ts";
import type { Random } from "../server/ids.ts";
import type { Requester } from "../server/outgoing.ts";
import type { Call } from "./call.ts";
import type { Faults } from "./options.ts";

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
  readonly request: Requester;
  readonly random: Random;
  readonly faults?: Faults | undefined;
}

/** Sends the notifications of each call in order, at least once, independent of other calls. */
export class Notifier {
  readonly #parts: NotifierParts;

  constructor(parts: NotifierParts) {
    this.#parts = parts;
  }

  /** Sends messages of a call, after those that are pending. */
  notify(call: Call, messages: readonly Message[]): void {
    const { faults } = this.#parts;
    const isIdle = call.pendingNotifications.length === 0;
    call.pendingNotifications.push(...messages);
    if (!isIdle || messages.length === 0) return;
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

  #logLost(call: Call, { id, event, url, body }: Message): void {
    call.log({
      type: "notification",
      id,
      event,
      try: 1,
      outcome: "given_up",
      ms: 0,
      error: "lost by the option `notifications`",
      request: { url, headers: {}, body },
    });
  }

  async #deliver(call: Call, message: Message): Promise<void> {
    const { id, event, retryDelay } = message;
    const { signal } = call.removed;
    for (let count = 1; !signal.aborted; count++) {
      const { failure, ...result } = await attempt(message, call, this.#parts.request, signal);
      if (signal.aborted) return;
      const delay = failure && retryDelay(count, failure);
      const isFinal = delay === undefined;
      const outcome = !failure ? "delivered" : isFinal ? "given_up" : "retrying";
      const entry = { type: "notification", id, event, try: count, outcome, ...result } as const;
      if (isFinal) return call.log(entry);
      call.log({ ...entry, next_at: iso(call.notificationTimeline.now() + delay) });
      await call.notificationTimeline.wait(delay);
    }
  }
}
