interface Link<T> {
  next?: Logged<T>;
}

interface Logged<T> extends Link<T> {
  readonly value: T;
}

/**
 * Delivers every event to every loop over it, in order, from the moment the loop starts. A linked list
 * rather than a queue for each loop: events that every loop has read can be collected as garbage.
 */
export class EventLog<T> implements AsyncIterable<T> {
  #last: Link<T> = {};
  #closed = false;
  #waiting: (() => void)[] = [];

  append(value: T): void {
    const logged: Logged<T> = { value };
    this.#last.next = logged;
    this.#last = logged;
    this.#wake();
  }

  /** Ends every loop after the events that it has not read yet. */
  close(): void {
    this.#closed = true;
    this.#wake();
  }

  [Symbol.asyncIterator](): AsyncIterator<T, undefined> {
    let read = this.#last;
    let returned = false;
    return {
      next: async () => {
        while (!returned) {
          const { next } = read;
          if (next) {
            read = next;
            return { value: next.value };
          }
          if (this.#closed) break;
          await new Promise<void>((wake) => this.#waiting.push(wake));
        }
        return { done: true, value: undefined };
      },
      return: async () => {
        returned = true;
        this.#wake();
        return { done: true, value: undefined };
      },
    };
  }

  #wake(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const wake of waiting) wake();
  }
}
