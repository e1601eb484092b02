import { type Waiting, waitingBy } from "../lib/clock.ts";
import { CallingHours, dayAt } from "./calling-hours.ts";
import type { Sql } from "./sqlite.ts";
import { factOf, setFact } from "./tables.ts";

const second = 1_000;

/**
 * How much delay is made up for, in milliseconds. The limit is low, because a late pace starts calls in a
 * burst: if the process dies in a burst, all its calls count as `maybe`.
 */
const catchUp = 100;

/** How long the full rate takes to recover after it was halved, in milliseconds. */
const recovery = 10_000;

/** The minimum factor of the rate, however often it is halved. */
const least = 1 / 32;

/**
 * Limits how many calls begin per second. Calls are spread evenly. Calls that a late timer missed are made
 * up for, but never more than `rate` calls begin within any second.
 */
export class Pace {
  readonly #rate: number;
  /** When each of the last calls began. Its length is the number of calls that may begin in a second. */
  readonly #began: number[];
  /** When the next call would begin if all were on time. */
  #next: number;
  /** The factor of the rate when it was last halved, and when that was. */
  #slowed = { to: 1, at: 0 };

  /**
   * @param rate - calls per second; it may be less than one
   * @param now - the first call may begin then
   * @param last - when the last call of an earlier process began; it counts as `rate` calls at that time
   */
  constructor(rate: number, now: number, last: number) {
    this.#rate = rate;
    this.#next = Math.max(now, Math.min(last, now) + second / rate);
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
    // No more of them are looked at than may begin: a high rate has many.
    const oldest = this.#began.slice(0, missed);
    const full = oldest.findIndex((at) => at + second > now);
    return full < 0 ? oldest.length : full;
  }

  /** A call begins. */
  take(now: number): void {
    const interval = second / this.#rate;
    this.#next = Math.max(this.#next, now - catchUp) + interval;
    this.#began.shift();
    this.#began.push(now);
  }

  /** Halves the rate, at most once a second: the service has sent a 429 or can't be reached. */
  slow(now: number): void {
    if (now - this.#slowed.at < second && now >= this.#slowed.at) return;
    this.#slowed = { to: Math.max(least, this.#factor(now) / 2), at: now };
  }

  /** The current rate, in calls per second. */
  rateAt(now: number): number {
    return this.#rate * this.#factor(now);
  }

  #factor(now: number): number {
    const { to, at } = this.#slowed;
    return Math.min(1, to + (1 - to) * Math.max(0, (now - at) / recovery));
  }

  /** If the clock was set back, moves all times back so that the last call began now: otherwise calls would wait. */
  #follow(now: number): void {
    const last = this.#began.at(-1) ?? now;
    if (now >= last) return;
    const by = last - now;
    for (const [index, at] of this.#began.entries()) this.#began[index] = at - by;
    this.#next -= by;
    this.#slowed = { ...this.#slowed, at: this.#slowed.at - by };
  }
}

/**
 * Limits how many POSTs are sent in a second. A call that has begun waits for its key, for another time each, so that many
 * may be ready at once.
 */
export class SendingPace {
  readonly #clock: () => number;
  readonly #time: Waiting;
  /** When each of the last POSTs was sent, in order. Its length is the number that may be sent in a second. */
  readonly #sent: number[];
  #waiting = 0;
  #last: Promise<void> = Promise.resolve();

  /**
   * @param rate - POSTs a second
   * @param last - when the last POST of an earlier process was claimed; it counts as `rate` POSTs at that time
   */
  constructor(rate: number, clock: () => number, last: number) {
    this.#clock = clock;
    this.#time = waitingBy(clock);
    this.#sent = Array.from({ length: Math.max(1, Math.ceil(rate)) }, () => last);
  }

  /** When a further call may begin: not while as many wait as are sent in a second. */
  freeAt(now: number): number {
    return this.#waiting < this.#sent.length ? now : this.#nextAt(now);
  }

  /** Waits until a POST may be sent, in the order in which they are ready. */
  untilFree(): Promise<void> {
    this.#waiting++;
    const waited = this.#last.then(() => this.#wait());
    // A clock that fails keeps one POST from being sent, and not those after it.
    this.#last = waited.catch(() => {});
    return this.#time.yieldTo(waited);
  }

  async #wait(): Promise<void> {
    try {
      for (;;) {
        const now = this.#clock();
        const wait = this.#nextAt(now) - now;
        if (wait <= 0) break;
        await this.#time.wait(Math.ceil(wait));
      }
      this.#sent.shift();
      this.#sent.push(this.#clock());
    } finally {
      this.#waiting--;
    }
  }

  #nextAt(now: number): number {
    // A clock that was set back holds nobody up for longer than a second.
    if ((this.#sent.at(-1) ?? now) > now) this.#sent.fill(now);
    return Math.max(now, (this.#sent[0] ?? now) + second);
  }
}

/** Counts the calls of a day, by the clock of one zone. */
export class DailyLimit {
  readonly #sql: Sql;
  readonly #most: number;
  readonly #timezone: string;
  readonly #midnights: CallingHours;

  /** @param now - if the counted day is later than today, the clock was set back: its calls count for today */
  constructor(sql: Sql, most: number, timezone: string, now: number) {
    this.#sql = sql;
    this.#most = most;
    this.#timezone = timezone;
    this.#midnights = new CallingHours([{ days: "sun-sat", from: "00:00", to: "24:00", timezone }]);
    const today = dayAt(now, timezone);
    if (this.#counted > today) setFact(sql, "day", today);
  }

  /** When a further call may begin. */
  freeAt(now: number): number {
    if (this.left(now) > 0) return now;
    let end = now;
    // `until` may be a change of daylight saving time, which does not end the day.
    while (dayAt(end, this.#timezone) <= this.#counted) end = this.#midnights.at(end, "").until;
    return end;
  }

  /** How many further calls may begin. */
  left(now: number): number {
    if (this.#most === Number.POSITIVE_INFINITY) return this.#most;
    return Math.max(0, this.#most - this.#count(now));
  }

  /** So many calls are claimed. */
  take(now: number, calls: number): void {
    if (this.#most === Number.POSITIVE_INFINITY || calls === 0) return;
    setFact(this.#sql, "day_calls", this.#count(now) + calls);
    setFact(this.#sql, "day", Math.max(this.#counted, dayAt(now, this.#timezone)));
  }

  /** A claim of that time was removed, as nobody was called. */
  giveBack(claimed: number): void {
    if (dayAt(claimed, this.#timezone) !== this.#counted) return;
    const calls = Number(factOf(this.#sql, "day_calls")) - 1;
    setFact(this.#sql, "day_calls", Math.max(0, calls));
  }

  /** The day whose calls are counted. It ends at midnight, also if the clock is set back. */
  get #counted(): number {
    return Number(factOf(this.#sql, "day"));
  }

  #count(now: number): number {
    const isOver = dayAt(now, this.#timezone) > this.#counted;
    return isOver ? 0 : Number(factOf(this.#sql, "day_calls"));
  }
}
