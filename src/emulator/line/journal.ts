interface Link<T> {
  next?: Told<T>;
}

interface Told<T> extends Link<T> {
  readonly value: T;
}

/**
 * Tells everyone who listens everything from then on, in order. A chain rather than a queue for each
 * listener: what all have read is free to go.
 */
export class Journal<T> implements AsyncIterable<T> {
  #last: Link<T> = {};
  #closed = false;
  #sleepers: (() => void)[] = [];

  tell(value: T): void {
    const told: Told<T> = { value };
    this.#last.next = told;
    this.#last = told;
    this.#wake();
  }

  /** Ends every loop over it, once it has read what was told. */
  close(): void {
    this.#closed = true;
    this.#wake();
  }

  [Symbol.asyncIterator](): AsyncIterator<T, undefined> {
    let read = this.#last;
    let left = false;
    return {
      next: async () => {
        while (!left) {
          const { next } = read;
          if (next) {
            read = next;
            return { value: next.value };
          }
          if (this.#closed) break;
          await new Promise<void>((wake) => this.#sleepers.push(wake));
        }
        return { done: true, value: undefined };
      },
      return: async () => {
        left = true;
        this.#wake();
        return { done: true, value: undefined };
      },
    };
  }

  #wake(): void {
    const sleepers = this.#sleepers;
    this.#sleepers = [];
    for (const wake of sleepers) wake();
  }
}
