/** Wakes every loop that sleeps when there may be work. */
export class WakeUp {
  /** How many times work was announced. */
  count = 0;
  readonly #sleepers = new Set<() => void>();

  announce(): void {
    this.count++;
    for (const wake of [...this.#sleepers]) wake();
  }

  /**
   * Sleeps until work is announced, the time is over or the signal aborts.
   *
   * @param since - `count` before the caller looked for work: what was announced since isn't lost
   */
  sleep(since: number, milliseconds: number, signal?: AbortSignal): Promise<void> {
    if (this.count !== since || signal?.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const wake = (): void => {
        clearTimeout(timer);
        this.#sleepers.delete(wake);
        signal?.removeEventListener("abort", wake);
        resolve();
      };
      const timer = setTimeout(wake, Math.max(0, milliseconds));
      this.#sleepers.add(wake);
      signal?.addEventListener("abort", wake);
    });
  }
}
