import type { Interface } from "./interface.ts";

/** What becomes of a notification on its way. */
interface Fate {
  readonly lost: boolean;
  readonly copies: number;
  /** Milliseconds, for each copy. */
  readonly late: readonly number[];
}

/** How a call has ended, and what became of the notification. */
interface Final {
  readonly disposition: string;
  readonly lost: boolean;
  /** Whether a receiver has taken it: not where the list had ended before it came. */
  readonly isTaken: boolean;
}

/** Carries notifications as badly as a network may: doubled, late, out of order, lost. */
export class Postman {
  /** The final notification of each attempt. */
  readonly finals = new Map<string, Final>();
  readonly counts = { sent: 0, lost: 0, doubled: 0, forged: 0, believed: 0 };
  /** Where the latest process receives notifications: each has a port of its own. */
  receiver = "";
  readonly #random: () => number;
  readonly #carried = new Set<Promise<void>>();
  #over = false;

  readonly #spoken: Interface;

  constructor(random: () => number, spoken: Interface) {
    this.#random = random;
    this.#spoken = spoken;
  }

  /** Takes a notification, and says at once that it has arrived. */
  take(url: string, body: string): Response {
    const disposition = this.#spoken.dispositionIn(body);
    const fate = this.#fate();
    this.counts.sent++;
    if (fate.lost) this.counts.lost++;
    if (fate.copies > 1) this.counts.doubled++;
    const final = disposition && { disposition, lost: fate.lost, isTaken: false };
    if (final) this.finals.set(keyOf(url), final);
    const taken = (): void => {
      if (final) final.isTaken = true;
    };
    if (!fate.lost) for (const wait of fate.late) this.#carry(url, body, wait, taken);
    return new Response(null, { status: 204 });
  }

  /** Sends a notification of an attempt to the path of another service, as that one would. */
  forge(url: string, service: string, body: string): void {
    const { pathname, search } = new URL(url);
    const path = pathname.replace(/^\/[^/]+/, `/${service}`);
    const headers = { "Content-Type": this.#spoken.contentType };
    const work = (async () => {
      while (!this.#over) {
        const init = { method: "POST", headers, body };
        // The receiver may be dead at the moment.
        const answer = await fetch(this.receiver + path + search, init).catch(() => undefined);
        if (answer) {
          this.counts.forged++;
          if (answer.ok) this.counts.believed++;
          return;
        }
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
    })().finally(() => this.#carried.delete(work));
    this.#carried.add(work);
  }

  /** Gives up what nobody receives any more. */
  async stop(): Promise<void> {
    this.#over = true;
    await Promise.all(this.#carried);
  }

  #fate(): Fate {
    const random = this.#random;
    const copies = random() < 0.2 ? 2 : 1;
    const late = Array.from({ length: copies }, () => (random() < 0.3 ? random() * 1_500 : 0));
    return { lost: random() < 0.05, copies, late };
  }

  /** As often as it takes: the receiver may be dead at the moment. */
  #carry(url: string, body: string, wait: number, taken: () => void): void {
    const work = (async () => {
      await new Promise((resolve) => setTimeout(resolve, wait));
      while (!this.#over) {
        const { pathname, search } = new URL(url);
        const headers = { "Content-Type": this.#spoken.contentType };
        const init = { method: "POST", headers, body };
        const answer = await fetch(this.receiver + pathname + search, init).catch(() => undefined);
        if (answer?.ok) return taken();
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
    })().finally(() => this.#carried.delete(work));
    this.#carried.add(work);
  }
}

/** Which attempt a signed URL is of: the contact and its attempt. */
export const keyOf = (url: string): string => {
  const [, token = ""] = /[?&]outdial=\d+\.([\w-]+)\./.exec(url) ?? [];
  const { contact, attempt } = JSON.parse(Buffer.from(token, "base64url").toString());
  return `${contact}/${attempt}`;
};
