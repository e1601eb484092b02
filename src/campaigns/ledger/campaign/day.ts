import type { Sql } from "../../sql/sql.ts";
import { CallingHours } from "../../window/hours.ts";
import { factOf, setFact } from "./facts.ts";

/** Counts the calls of a day, by the clock of one zone. */
export class Day {
  readonly #sql: Sql;
  readonly #most: number;
  readonly #midnights: CallingHours;

  constructor(sql: Sql, most: number, timezone: string) {
    this.#sql = sql;
    this.#most = most;
    this.#midnights = new CallingHours([{ days: "sun-sat", from: "00:00", to: "24:00", timezone }]);
  }

  /** When a further call may begin. */
  freeAt(now: number): number {
    if (this.#most === Number.POSITIVE_INFINITY || this.#count(now) < this.#most) return now;
    return Number(factOf(this.#sql, "day_ends"));
  }

  /** A call is claimed. */
  take(now: number): void {
    if (this.#most === Number.POSITIVE_INFINITY) return;
    setFact(this.#sql, "day_calls", this.#count(now) + 1);
    if (now < Number(factOf(this.#sql, "day_ends"))) return;
    setFact(this.#sql, "day_ends", this.#midnights.at(now, "").until);
  }

  /** A day ends at its midnight, not when a clock is set back. */
  #count(now: number): number {
    return now < Number(factOf(this.#sql, "day_ends")) ? Number(factOf(this.#sql, "day_calls")) : 0;
  }
}
