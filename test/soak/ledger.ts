/** One number per attempt, outside of the JavaScript heap, so that keeping account is no leak. */
export class Ledger {
  #numbers = new Uint32Array(2 ** 16);

  get(attempt: number): number {
    return this.#numbers[attempt] ?? 0;
  }

  set(attempt: number, value: number): void {
    if (attempt >= this.#numbers.length) {
      const longer = new Uint32Array(this.#numbers.length * 2);
      longer.set(this.#numbers);
      this.#numbers = longer;
    }
    this.#numbers[attempt] = value;
  }

  /** All numbers, for another process. */
  toArray(): Uint32Array {
    return this.#numbers;
  }
}

/** A call's id as a number that is not 0 (FNV-1a). */
export const hashOf = (id: string): number => {
  let hash = 0x811c9dc5;
  for (let at = 0; at < id.length; at++) {
    hash = Math.imul(hash ^ id.charCodeAt(at), 0x01000193);
  }
  return hash >>> 0 || 1;
};

/** Notes which call belongs to an attempt; a second one is counted as doubled. */
export class Calls {
  readonly ids: Ledger = new Ledger();
  doubled = 0;

  note(attempt: number, id: string): void {
    const known = this.ids.get(attempt);
    if (known && known !== hashOf(id)) this.doubled++;
    this.ids.set(attempt, hashOf(id));
  }
}
