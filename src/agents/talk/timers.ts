/** Timers by their names, all of which end together. */
export class Timers {
  readonly #timers = new Map<string, ReturnType<typeof setTimeout>>();

  /** Does something after some milliseconds, in the place of what had this name. */
  after(name: string, milliseconds: number, work: () => void): void {
    this.never(name);
    this.#timers.set(name, setTimeout(work, milliseconds));
  }

  never(name: string): void {
    clearTimeout(this.#timers.get(name));
    this.#timers.delete(name);
  }

  stop(): void {
    for (const timer of this.#timers.values()) clearTimeout(timer);
    this.#timers.clear();
  }
}
