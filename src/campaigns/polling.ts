import type { CallEvent } from "../callbacks/event.ts";
import { BadParametersException } from "../errors.ts";
import { withDeadline } from "../http/deadline.ts";
import { waitingBy } from "../lib/clock.ts";
import type { Attempt } from "./attempt-facts.ts";
import { recordEvent } from "./notifications.ts";
import type { CallState, CampaignSettings } from "./options.ts";
import type { Sql } from "./sqlite.ts";
import { audit, factOf, setFact } from "./tables.ts";

const second = 1_000;

/** Milliseconds until a call is asked for again that hasn't ended: this at first, and twice as long each time. */
const firstInterval = 30_000;

const longestInterval = 600_000;

/** The most calls that are asked for at once. */
const mostAtOnce = 16;

/** How long an answer is waited for, in milliseconds: longer than the client's own deadline. */
const longestAnswer = 30_000;

/** The fact that has the time of the last poll: a new process keeps to the pace of the one before. */
const lastPoll = "last_poll";

const late = (): Error => new DOMException("get gave no answer within 30 s", "TimeoutError");

/** A call whose end is asked for. */
interface Polled extends Attempt {
  readonly call_id: string;
  readonly polls: number;
}

/** The notification that a call's state stands for; `undefined` while it is live. */
const eventOf = (id: string, call: CallState): CallEvent | undefined => {
  const { state, reason, duration, answered_by, cost, currency } = call;
  const common = { known: true, call_id: id } as const;
  const why = {
    ...(reason !== undefined && { reason }),
    ...(cost !== undefined && { cost, currency }),
  };
  if (state === "failed") return { ...common, type: "call.failed", data: why };
  if (state !== "completed") return;
  const data = {
    ...why,
    ...(duration !== undefined && { duration }),
    ...(answered_by !== undefined && { answered_by }),
  };
  return { ...common, type: "call.completed", data };
};

/**
 * Asks the service for a call.
 *
 * @returns its end, if it has ended
 * @throws what `get` throws, or a `TimeoutError` after 30 s
 */
export const readEnd = async (
  get: NonNullable<CampaignSettings["get"]>,
  id: string,
): Promise<CallEvent | undefined> =>
  eventOf(id, await withDeadline(longestAnswer, undefined, late, async () => get(id)));

/** How long a call is asked for beyond its horizon, in milliseconds, while no answer can be read. */
const longestOutage = 86_400_000;

/** What a service answers that is only busy, or away. */
const passing: ReadonlySet<unknown> = new Set([408, 425, 429]);

/**
 * Whether the service refuses to say anything of a call: it has no such call, can't read calls, or this key may not; or
 * `get` lacks an option and asks nobody. Then nothing will ever be known of it by asking.
 */
const isRefused = (error: unknown): boolean => {
  if (error instanceof BadParametersException) return true;
  const code = typeof error === "object" && error !== null && "code" in error && error.code;
  return code === 501 || (Number(code) >= 400 && Number(code) < 500 && !passing.has(code));
};

/** When the next call is asked for, in milliseconds since 1970; `Infinity` when none is. */
const nextToPoll = (sql: Sql): number => {
  const [{ at } = {}] = sql.all(
    "select min(poll_at) as at from outdial_attempt where poll_at is not null",
  );
  return typeof at === "number" ? at : Number.POSITIVE_INFINITY;
};

/** Asks for the open calls of a ledger whose ids are known, from now on, or no more. */
export const adjustToGet = (sql: Sql, at: number, { get, settleTimeout }: CampaignSettings): void =>
  sql.transaction(() => {
    if (get) {
      sql.all(
        `update outdial_attempt set poll_at = ?, settle_by = 8640000000000000
         where state <> 'settled' and state = 'placed' and poll_at is null and exists (
           select 1 from outdial_contact c
           where c.contact = outdial_attempt.contact and attempts = attempt and call_id is not null)`,
        at,
      );
      // A process begins only now and then, and calls may have ended since the last one. A Durable Object often wakes.
      if (sql.isFile) sql.all("update outdial_attempt set poll_at = ? where poll_at > ?", at, at);
    } else {
      sql.all(
        "update outdial_attempt set poll_at = null, settle_by = ? where poll_at is not null",
        at + settleTimeout,
      );
    }
  });

/** How many calls are asked for in a second, by how many are live at once. */
export const pollsFor = (concurrency: number): number =>
  Math.max(1, Number.isFinite(concurrency) ? concurrency / 60 : 1);

/** How ends are written. */
interface PollingLedger {
  readonly write: <T>(work: () => T) => Promise<T>;
  readonly failed: (error: unknown) => void;
}

/** Asks the service what became of calls whose final notification hasn't come. */
export class Polling {
  readonly #sql: Sql;
  readonly #settings: CampaignSettings;
  readonly #perSecond: number;
  readonly #ledger: PollingLedger;
  readonly #underWay = new Map<number, Promise<void>>();
  /** When the next one may be asked for. */
  #free: number;

  /**
   * @param perSecond - how many calls are asked for in a second, at most
   * @param ledger - `write` commits, and waits while another program holds the file; `failed` gets why an end can't be written
   */
  constructor(sql: Sql, settings: CampaignSettings, perSecond: number, ledger: PollingLedger) {
    this.#sql = sql;
    this.#settings = settings;
    this.#perSecond = perSecond;
    this.#ledger = ledger;
    this.#free = Number(factOf(sql, lastPoll)) + second / perSecond;
  }

  /** How many answers are waited for. */
  get count(): number {
    return this.#underWay.size;
  }

  /** When to come back, in milliseconds since 1970; `Infinity` when nothing is to be asked. */
  get wake(): number {
    if (!this.#settings.get || this.count >= mostAtOnce) return Number.POSITIVE_INFINITY;
    const next = nextToPoll(this.#sql);
    return next === Number.POSITIVE_INFINITY ? next : Math.max(next, this.#free);
  }

  /** Waits until every answer is recorded. */
  async idle(): Promise<void> {
    while (this.count > 0) await Promise.all(this.#underWay.values());
  }

  /**
   * Asks for the calls that are due, no more than the pace allows.
   *
   * @param most - how many requests may begin
   * @param done - called once an answer is recorded
   */
  poll(most: number, done: () => void): void {
    const { get, clock } = this.#settings;
    const at = clock();
    // A clock that was set back must hold nobody up.
    this.#free = Math.min(this.#free, at + second / Math.min(1, this.#perSecond));
    if (!get || this.wake > at) return;
    // One at a time: so no second has more than the pace allows.
    for (const call of this.#due(at, Math.min(most, 1))) {
      this.#free = Math.max(this.#free, at) + second / this.#perSecond;
      const work = waitingBy(clock)
        .turn(() => this.#poll(call, get))
        .finally(() => {
          this.#underWay.delete(call.contact);
          done();
        });
      this.#underWay.set(call.contact, work);
    }
  }

  #due(at: number, most: number): readonly Polled[] {
    if (most <= 0) return [];
    return this.#sql
      .all(
        `select contact, attempt, polls, call_id from outdial_attempt join outdial_contact using (contact)
         where poll_at is not null and poll_at <= ? order by poll_at limit ?`,
        at,
        most + this.count,
      )
      .map((row) => ({
        contact: Number(row.contact),
        attempt: Number(row.attempt),
        polls: Number(row.polls),
        call_id: String(row.call_id),
      }))
      .filter(({ contact }) => !this.#underWay.has(contact))
      .slice(0, most);
  }

  /** It never rejects: a call that can't be read, or recorded, is asked for again. */
  async #poll(call: Polled, get: NonNullable<CampaignSettings["get"]>): Promise<void> {
    let event: CallEvent | undefined;
    /** How long it is asked for beyond its horizon. */
    let patience = Number.POSITIVE_INFINITY;
    try {
      // Before the request, as the answer may never come.
      await this.#ledger.write(() => setFact(this.#sql, lastPoll, this.#settings.clock()));
      event = await readEnd(get, call.call_id);
    } catch (error) {
      patience = isRefused(error) ? 0 : longestOutage;
    }
    try {
      await this.#ledger.write(() => this.#record(call, event, patience));
    } catch (error) {
      this.#ledger.failed(error);
      this.#free = this.#settings.clock() + second;
    }
  }

  #record(call: Polled, event: CallEvent | undefined, patience: number): void {
    const sql = this.#sql;
    const at = this.#settings.clock();
    const { contact, attempt, polls } = call;
    const [row] = sql.all(
      "select claimed from outdial_attempt where contact = ? and attempt = ? and poll_at is not null",
      contact,
      attempt,
    );
    // Its notification came meanwhile, or the contact was erased.
    if (!row) return;
    if (event) {
      audit(sql, { at, contact, attempt, event: "polled" });
      recordEvent(sql, call, event, at, this.#settings);
      return;
    }
    const claimed = Number(row.claimed);
    // A clock that was set back since must hold no slot until it has caught up.
    const isAhead = patience === 0 && claimed > at;
    if (isAhead || at >= claimed + this.#settings.settleTimeout + patience) {
      sql.all(
        "update outdial_attempt set poll_at = null, settle_by = ? where contact = ? and attempt = ?",
        at,
        contact,
        attempt,
      );
      return;
    }
    sql.all(
      "update outdial_attempt set poll_at = ?, polls = ? where contact = ? and attempt = ?",
      at + Math.min(longestInterval, firstInterval * 2 ** Math.min(polls, 20)),
      polls + 1,
      contact,
      attempt,
    );
  }
}
