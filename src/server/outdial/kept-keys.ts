/** How long a key is kept, in milliseconds: 24 hours. */
const lifetime = 24 * 3_600_000;

/** What is known of a key. */
export interface KeptKey {
  /** The body of the request that placed a call with it, byte for byte. */
  readonly body: string;
  /** The call; absent while no request with the key has placed one. */
  readonly id?: string | undefined;
  /** How many responses were not sent whole. */
  readonly lost: number;
}

/**
 * The `Idempotency-Key`s of an account. A call is placed in the same turn in which its key is looked up, so no request
 * ever finds another one with its key under way.
 */
export class KeptKeys {
  readonly #now: () => number;
  /** By key, the oldest first. */
  readonly #kept = new Map<string, KeptKey & { readonly until: number }>();

  /** @param now - milliseconds since 1970, by the service's clock */
  constructor(now: () => number) {
    this.#now = now;
  }

  find(key: string): KeptKey | undefined {
    const now = this.#now();
    for (const [oldest, { until }] of this.#kept) {
      if (until > now) break;
      this.#kept.delete(oldest);
    }
    return this.#kept.get(key);
  }

  /** Keeps what is known of a key now, for 24 hours since the key was kept first. */
  keep(key: string, known: KeptKey): void {
    const { until = this.#now() + lifetime } = this.#kept.get(key) ?? {};
    this.#kept.set(key, { ...known, until });
  }

  clear(): void {
    this.#kept.clear();
  }
}
