import { RefusedException } from "../../callbacks/index.ts";

/** Milliseconds between two lines about refused requests. */
const interval = 60_000;

/** What is said of a server's errors: anybody can send requests that are refused, so of those one line a minute. */
export class RefusalLog {
  readonly #now: () => number;
  #unprinted = 0;
  #from = Number.NEGATIVE_INFINITY;

  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  /** The line about a request that was refused; `undefined` if none is printed now. */
  lineOf(error: unknown): string | undefined {
    if (!(error instanceof RefusedException)) return;
    this.#unprinted++;
    const now = this.#now();
    // A clock may be set back.
    if (now < this.#from && this.#from <= now + interval) return;
    const more = this.#unprinted > 1 ? ` (${this.#unprinted} since the last line)` : "";
    this.#unprinted = 0;
    this.#from = now + interval;
    return `a request was refused: ${error.message}${more}`;
  }
}
