import { type Attempt, claim } from "../ledger/attempt/claim.ts";
import { type Meaning, recordOutcome } from "../ledger/attempt/outcome.ts";
import { giveUp, nextToGiveUp } from "../ledger/attempt/settle.ts";
import { isBlocked } from "../ledger/barred/blocked.ts";
import { Day } from "../ledger/campaign/day.ts";
import { factOf } from "../ledger/campaign/facts.ts";
import { stateOfCampaign, tallyOf } from "../ledger/campaign/progress.ts";
import { type ContactRow, contactOf, endAs, isErased, move } from "../ledger/contact.ts";
import { foldLong } from "../ledger/log.ts";
import { Pace } from "../pace/pace.ts";
import type { CampaignSettings } from "../settings.ts";
import type { Sql } from "../sql/sql.ts";
import { CallingHours } from "../window/hours.ts";
import { meaningOf, meaningOfCall } from "./meaning.ts";
import { sign } from "./sign.ts";
import { dueNow, endOf, endOverdue, nextDue } from "./turn.ts";

/** Calls that one step begins at most: between two steps their requests get on their way. */
const most = 16;

const defaultConcurrency = 10;

const zoneOf = ({ window }: CampaignSettings): string => {
  const [first] = [window].flat();
  return typeof first === "object" ? first.timezone : "UTC";
};

/** Dials what is due: it alone makes the POSTs of a campaign. */
export class Dialer {
  readonly #sql: Sql;
  readonly #settings: CampaignSettings;
  readonly #hours: CallingHours;
  readonly #pace: Pace;
  readonly #day: Day;
  readonly #slots: number;
  readonly #inFlight = new Set<Promise<void>>();
  readonly #steps = new Set<Promise<unknown>>();
  /** Whether it is done with. */
  isClosed = false;
  /** What couldn't be written down; whatever it was about stays a claim, which is safe. */
  #failure: { readonly error: unknown } | undefined;
  /** Hears that something has changed, so that another step may find something to do. */
  onChange: () => void = () => {};

  constructor(sql: Sql, settings: CampaignSettings) {
    const { window, rate, perDay = Number.POSITIVE_INFINITY, clock, notified } = settings;
    const { concurrency = notified ? defaultConcurrency : Number.POSITIVE_INFINITY } = settings;
    const [{ at: last } = {}] = sql.all(
      "select at from outdial_audit where event = 'claimed' order by entry desc limit 1",
    );
    this.#sql = sql;
    this.#settings = settings;
    this.#slots = concurrency;
    this.#hours = new CallingHours(window === "always" ? window : [window].flat());
    this.#pace = new Pace(rate, clock(), typeof last === "number" ? last : 0);
    this.#day = new Day(sql, perDay, zoneOf(settings), clock());
  }

  /** Calls a second as they are now. */
  get rate(): number {
    return this.#pace.rateAt(this.#settings.clock());
  }

  /**
   * Does what is due.
   *
   * @returns when to come back, in milliseconds since 1970; `undefined` when nothing will be due by itself
   * @throws what the database throws, when it can't be written
   */
  async step(): Promise<number | undefined> {
    if (this.isClosed) return;
    const work = this.#step();
    this.#steps.add(work);
    try {
      return await work;
    } finally {
      this.#steps.delete(work);
    }
  }

  async #step(): Promise<number | undefined> {
    if (this.#failure) throw this.#failure.error;
    const { clock } = this.#settings;
    const sql = this.#sql;
    foldLong(sql);
    giveUp(sql, clock());
    if (!endOverdue(sql, this.#settings)) return clock();
    if (stateOfCampaign(sql) === "running") await this.#dial();
    return this.#wake();
  }

  /** Waits until every POST that is under way has its answer, and that is written down. */
  async idle(): Promise<void> {
    while (this.#inFlight.size > 0) await Promise.all(this.#inFlight);
  }

  /** Begins no call any more, and waits until nothing is under way. */
  async close(): Promise<void> {
    this.isClosed = true;
    this.onChange();
    await Promise.allSettled(this.#steps);
    await this.idle();
  }

  /** Begins the calls whose turn it is, as many as pace and slots allow. */
  async #dial(): Promise<void> {
    const sql = this.#sql;
    const now = this.#settings.clock();
    const { calling = 0 } = tallyOf(sql);
    const wanted = Math.min(most, this.#pace.free(now), this.#slots - calling);
    if (wanted <= 0 || this.#day.freeAt(now) > now) return;
    const campaign = String(factOf(sql, "id"));
    // Signed before the claim: what can't be signed claims nothing.
    const turns = await Promise.all(
      dueNow(sql, this.#hours, now, wanted).map(async (contact) => ({
        contact,
        params: await sign(contact, campaign, this.#settings),
      })),
    );
    // One commit for all: until this function gives way no request leaves, so that none is sent sooner
    // by a commit of its own, and no claim is longer in doubt.
    const claimed = sql.transaction(() => {
      const free = this.#pace.free(this.#settings.clock());
      const some: typeof turns = [];
      for (const turn of turns)
        if (some.length < free && this.#claim(turn.contact)) some.push(turn);
      return some;
    });
    for (const { contact, params } of claimed) {
      const key = { contact: contact.contact, attempt: contact.attempts + 1 };
      const began = this.#settings.clock();
      const work = this.#post(contact.timezone, params)
        .then((meaning) => this.#record(key, meaning, began))
        .finally(() => this.#inFlight.delete(work));
      this.#inFlight.add(work);
      // Not before: a commit takes its time, as does what begins a request, and the pace is that of the POSTs.
      this.#pace.take(this.#settings.clock());
    }
  }

  /**
   * All that must hold at the moment of a claim, and the claim, in a transaction of the caller's. What was
   * read before it may be of yesterday.
   *
   * @returns whether to POST
   */
  #claim({ contact, attempts, timezone }: ContactRow): boolean {
    const sql = this.#sql;
    const { clock, prefixes, settle, attempts: budget = 1 } = this.#settings;
    const at = clock();
    const row = contactOf(sql, contact);
    if (row?.state !== "waiting" || row.attempts !== attempts || row.due > at) return false;
    if (this.isClosed || isErased(row) || row.timezone !== timezone) return false;
    if (stateOfCampaign(sql) !== "running" || at >= endOf(this.#settings)) return false;
    if (isBlocked(sql, row.to_number)) {
      move(sql, row, "skipped", { at, reason: "blocked" });
      return false;
    }
    if (prefixes && !prefixes.some((prefix) => row.to_number.startsWith(prefix))) {
      move(sql, row, "refused", { at, reason: "prefix" });
      return false;
    }
    if (attempts >= budget) {
      endAs(sql, row, "expired", at);
      return false;
    }
    if (!this.#hours.at(at, timezone).open) return false;
    const { calling = 0 } = tallyOf(sql);
    if (calling >= this.#slots || this.#day.freeAt(at) > at) return false;
    this.#day.take(at);
    return claim(sql, row, at, at + settle * 1000);
  }

  async #post(
    timezone: string,
    params: Parameters<CampaignSettings["create"]>[0],
  ): Promise<Meaning> {
    // A commit may take its time: a disk that stalls, a machine that sleeps.
    if (!this.#isInTime(timezone)) return { means: "unsent", detail: "the hours had ended" };
    try {
      return meaningOfCall(await this.#settings.create(params));
    } catch (error) {
      return meaningOf(error);
    }
  }

  #isInTime(timezone: string): boolean {
    try {
      const at = this.#settings.clock();
      return at < endOf(this.#settings) && this.#hours.at(at, timezone).open;
    } catch {
      return false; // Without a clock nobody is called.
    }
  }

  #record(key: Attempt, meaning: Meaning, began: number): void {
    try {
      const at = this.#settings.clock();
      if (meaning.means === "later") this.#pace.slow(at);
      const isLast = this.#inFlight.size <= 1;
      const stands = recordOutcome(this.#sql, key, meaning, at, this.#settings, isLast);
      if (!stands) this.#day.giveBack(began);
    } catch (error) {
      this.#failure = { error };
    }
    this.onChange();
  }

  #wake(): number | undefined {
    const now = this.#settings.clock();
    const sql = this.#sql;
    const { waiting = 0, calling = 0 } = tallyOf(sql);
    const times = [nextToGiveUp(sql)];
    if (waiting > 0) times.push(endOf(this.#settings));
    if (waiting > 0 && calling < this.#slots && stateOfCampaign(sql) === "running") {
      const due = nextDue(sql, this.#hours, now);
      times.push(Math.max(due, this.#pace.nextAt(now), this.#day.freeAt(now)));
    }
    const wake = Math.min(...times);
    return wake === Number.POSITIVE_INFINITY ? undefined : Math.ceil(wake);
  }
}
