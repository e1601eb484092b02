/** How long a key is kept, in milliseconds: 24 hours. */
export const keyLifetime: number = 24 * 3_600_000;

/** What is known of a key. */
export interface KeptKey {
  /** The call; absent while no request with the key has placed one. */
  readonly id?: string | undefined;
  /** How many responses were not sent whole. */
  readonly lost: number;
}

/**
 * The `Idempotency-Key`s of an account. A call is placed in the same turn in which its key is looked up, so no request
 * ever finds another one with its key under way.
 */
export interface IdempotencyKeys {
  /**
   * What is known of a key.
   *
   * @param body - the body of the request, byte for byte
   * @returns also whether the body is that of the request which the key was kept with
   */
  readonly find: (
    key: string,
    body: string,
  ) => (KeptKey & { readonly isSame: boolean }) | undefined;
  /** Keeps what is known of a key now, for 24 hours since the key was kept first. */
  readonly keep: (key: string, body: string, known: KeptKey) => void;
}

/** The keys in the memory of the process. */
export class KeptKeys implements IdempotencyKeys {
  readonly #now: () => number;
  /** By key, the oldest first. */
  readonly #kept = new Map<string, KeptKey & { readonly body: string; readonly until: number }>();

  /** @param now - milliseconds since 1970, by the service's clock */
  constructor(now: () => number) {
    this.#now = now;
  }

  readonly find: IdempotencyKeys["find"] = (key, body) => {
    const now = this.#now();
    for (const [oldest, { until }] of this.#kept) {
      if (until > now) break;
      this.#kept.delete(oldest);
    }
    const kept = this.#kept.get(key);
    return kept && { ...kept, isSame: kept.body === body };
  };

  readonly keep: IdempotencyKeys["keep"] = (key, body, known) => {
    const { until = this.#now() + keyLifetime } = this.#kept.get(key) ?? {};
    this.#kept.set(key, { ...known, body, until });
  };

  clear(): void {
    this.#kept.clear();
  }
}
