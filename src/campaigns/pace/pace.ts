const second = 1_000;

/**
 * How much lateness is made up for, in milliseconds. Little: calls that begin in one burst are all in
 * doubt if the process dies in it.
 */
const catchUp = 100;

/** How long the pace takes to recover after the service asked for less, in milliseconds. */
const recovery = 10_000;

/** The least that is left of the pace, however often the service asks. */
const least = 1 / 32;

/**
 * How many calls a second may begin. Calls are spread evenly; what a late timer missed is made up for,
 * but never by more than `rate` calls within any second.
 */
export class Pace {
  readonly #rate: number;
  /** When the last calls began: as many as may begin in a second. */
  readonly #began: number[];
  /** When the next call would begin if all were on time. */
  #next: number;
  /** What is left of the pace after the service asked for less, and when it did. */
  #slowed = { to: 1, at: 0 };

  /**
   * @param rate - calls a second, also less than one
   * @param now - the first call may begin then
   * @param last - when the last call began before that, in another process: it counts as a whole second of them
   */
  constructor(rate: number, now: number, last: number) {
    this.#rate = rate;
    this.#next = now;
    this.#began = Array.from({ length: Math.max(1, Math.ceil(rate)) }, () => Math.min(last, now));
  }

  /** When the next call may begin, in milliseconds since 1970. */
  nextAt(now: number): number {
    this.#follow(now);
    const factor = this.#factor(now);
    const full = (this.#began[0] ?? now) + second;
    if (factor === 1) return Math.max(full, this.#next);
    const last = this.#began.at(-1) ?? now;
    return Math.max(full, last + second / (this.#rate * factor));
  }

  /** How many calls may begin at once. */
  free(now: number): number {
    if (this.nextAt(now) > now) return 0;
    if (this.#factor(now) < 1) return 1;
    const late = Math.min(now - this.#next, catchUp);
    const missed = Math.floor((late * this.#rate) / second) + 1;
    const full = this.#began.findIndex((at) => at + second > now);
    return Math.min(missed, full < 0 ? this.#began.length : full);
  }

  /** A call begins. */
  take(now: number): void {
    const interval = second / this.#rate;
    this.#next = Math.max(this.#next, now - catchUp) + interval;
    this.#began.shift();
    this.#began.push(now);
  }

  /** The service asked for less: half, once a second at most. */
  slow(now: number): void {
    if (now - this.#slowed.at < second && now >= this.#slowed.at) return;
    this.#slowed = { to: Math.max(least, this.#factor(now) / 2), at: now };
  }

  /** Calls a second as they are now. */
  rateAt(now: number): number {
    return this.#rate * this.#factor(now);
  }

  #factor(now: number): number {
    const { to, at } = this.#slowed;
    return Math.min(1, to + (1 - to) * Math.max(0, (now - at) / recovery));
  }

  /** A clock that was set back must not hold up the calls: what was, was just now. */
  #follow(now: number): void {
    const last = this.#began.at(-1) ?? now;
    if (now >= last) return;
    const by = last - now;
    for (const [index, at] of this.#began.entries()) this.#began[index] = at - by;
    this.#next -= by;
    this.#slowed = { ...this.#slowed, at: this.#slowed.at - by };
  }
}
