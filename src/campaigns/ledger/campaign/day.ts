import type { Sql } from "../../sql/sql.ts";
import { dayAt } from "../../window/clock.ts";
import { CallingHours } from "../../window/hours.ts";
import { factOf, setFact } from "./facts.ts";

/** Counts the calls of a day, by the clock of one zone. */
export class Day {
  readonly #sql: Sql;
  readonly #most: number;
  readonly #timezone: string;
  readonly #midnights: CallingHours;

  /** @param now - a day further on is that of a clock that was set back since, and counts as today */
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
    if (this.#most === Number.POSITIVE_INFINITY || this.#count(now) < this.#most) return now;
    let end = now;
    // A clock that is put forward or back ends a look at the hours, but not the day.
    while (dayAt(end, this.#timezone) <= this.#counted) end = this.#midnights.at(end, "").until;
    return end;
  }

  /** A call is claimed. */
  take(now: number): void {
    if (this.#most === Number.POSITIVE_INFINITY) return;
    setFact(this.#sql, "day_calls", this.#count(now) + 1);
    setFact(this.#sql, "day", Math.max(this.#counted, dayAt(now, this.#timezone)));
  }

  /** A claim of that time was taken back: nobody was called. */
  giveBack(claimed: number): void {
    if (dayAt(claimed, this.#timezone) !== this.#counted) return;
    const calls = Number(factOf(this.#sql, "day_calls")) - 1;
    this.#sql.relaxed(() => setFact(this.#sql, "day_calls", Math.max(0, calls)));
  }

  /** The day whose calls are counted: it ends at its midnight, not when a clock is set back. */
  get #counted(): number {
    return Number(factOf(this.#sql, "day"));
  }

  #count(now: number): number {
    const isOver = dayAt(now, this.#timezone) > this.#counted;
    return isOver ? 0 : Number(factOf(this.#sql, "day_calls"));
  }
}
