import type { CallAtUrls } from "../calls/params.ts";
import { BadParametersException } from "../errors.ts";
import { waitingBy } from "../lib/clock.ts";
import type { Attempt } from "./attempt-facts.ts";
import {
  type Answer,
  type Answered,
  answerOf,
  answerOfError,
  giveUp,
  isUnsent,
  letsOthersPass,
  nextToGiveUp,
  recordAnswers,
} from "./attempts.ts";
import { CallingHours } from "./calling-hours.ts";
import { candidatesOf, claim, mayBeCalled } from "./claims.ts";
import { endWaiting } from "./contact-state.ts";
import { type DueContact, DueContacts, zonesOf } from "./due-contacts.ts";
import { Ending } from "./ending.ts";
import { LedgerException } from "./errors.ts";
import { type CampaignSettings, defaultConcurrency } from "./options.ts";
import { DailyLimit, Pace, SendingPace } from "./pace.ts";
import { Polling, pollsFor } from "./polling.ts";
import { endOf, openIn, openNow, stateOfCampaign, tallyOf } from "./progress.ts";
import {
  endsAsking,
  isRepeatable,
  keepSent,
  keyedOptions,
  type LostAttempt,
  lostAttempts,
  paramsAgain,
  Repeats,
  repeatedFor,
  type Sent,
  sentOf,
} from "./repeats.ts";
import { onMachine, paramsOf, senderOf } from "./request.ts";
import { isBusyError, type Sql, whileBusy } from "./sqlite.ts";
import { factOf, setFact } from "./tables.ts";
import { WakeUp } from "./wake-up.ts";

/** Calls that one step begins at most: between two steps their requests are sent. */
const mostPerStep = 16;

/** Milliseconds until the next step when another program holds the file. */
const busyInterval = 250;

/** How long `close` waits for a busy file, in milliseconds. */
const closingTime = 5_000;

/** The fact that has the time of the last claim: a new process keeps to the pace of the one before. */
const lastClaim = "last_claim";

const zoneOf = ({ window }: CampaignSettings): string => {
  const [first] = [window].flat();
  return typeof first === "object" ? first.timezone : "UTC";
};

const hoursOf = ({ window }: CampaignSettings): CallingHours =>
  new CallingHours(window === "always" ? window : [window].flat());

/** When the POST of an attempt began. */
interface Begun {
  readonly began: number;
}

/** What bounds and wakes a dialer beside the options of its campaign. */
export interface DialerLimits {
  /** How many requests wait for their answer at once, at most. */
  readonly mostRequests?: number | undefined;
  /** How many calls are asked for in a second, at most. */
  readonly pollsPerSecond?: number | undefined;
}

/** Dials what is due: it alone makes the POSTs of a campaign. */
export class Dialer {
  readonly #sql: Sql;
  readonly #settings: CampaignSettings;
  readonly #hours: CallingHours;
  readonly #dueContacts: DueContacts;
  readonly #pace: Pace;
  readonly #sending: SendingPace;
  readonly #day: DailyLimit;
  readonly #slots: number;
  readonly #mostRequests: number;
  readonly #inFlight = new Set<Promise<void>>();
  /** Answers that are not recorded yet, and when they will be. */
  readonly #answered: (Answered & Begun)[] = [];
  #recording: Promise<void> = Promise.resolve();
  readonly #polling: Polling;
  readonly #repeats = new Repeats();
  /** Whether `create` passes the key on, as far as is known: one that declares no options may drop it. */
  #passesKey: boolean;
  /** Ends the live calls once that is asked for. */
  readonly ending: Ending;
  /** One step at a time: what it reads holds until its claims are committed. */
  #lastStep: Promise<unknown> = Promise.resolve();
  /** Why something couldn't be recorded; its claim stands, which is safe. */
  #failure: { readonly error: unknown } | undefined;
  /** When it was closed, by `performance.now()`. */
  #closed = Number.POSITIVE_INFINITY;
  /** How many changes wait for the file before which no call may begin. */
  #holds = 0;
  /** Announces whatever may give a sleeping loop something to do. */
  readonly wakeUp: WakeUp = new WakeUp();

  constructor(
    sql: Sql,
    settings: CampaignSettings,
    { mostRequests = Number.POSITIVE_INFINITY, pollsPerSecond }: DialerLimits = {},
  ) {
    const { rate, perDay = Number.POSITIVE_INFINITY, clock, notified } = settings;
    const { concurrency = notified ? defaultConcurrency : Number.POSITIVE_INFINITY } = settings;
    this.#sql = sql;
    this.#settings = settings;
    this.#passesKey = settings.create.length > 1;
    this.#slots = concurrency;
    this.#mostRequests = mostRequests;
    const write = <T>(work: () => T): Promise<T> => this.whileBusy(() => sql.commit(work));
    this.#polling = new Polling(sql, settings, pollsPerSecond ?? pollsFor(concurrency), {
      write,
      failed: (error) => this.fail(error),
    });
    this.ending = new Ending(sql, settings, {
      most: mostRequests,
      write,
      done: () => this.wakeUp.announce(),
    });
    this.#hours = hoursOf(settings);
    this.#dueContacts = new DueContacts(sql, this.#hours, hoursOf(settings));
    const last = Number(factOf(sql, lastClaim));
    this.#pace = new Pace(rate, clock(), last);
    this.#sending = new SendingPace(rate, clock, last);
    this.#day = new DailyLimit(sql, perDay, zoneOf(settings), clock());
  }

  /** Calls a second as they are now. */
  get rate(): number {
    return this.#pace.rateAt(this.#settings.clock());
  }

  /**
   * Waits while another program holds the file, and for 5 s at most once the campaign closes.
   *
   * @throws {LedgerException} `busy`, after that
   */
  whileBusy<T>(work: () => Promise<T> | T): Promise<T> {
    return whileBusy(work, () => performance.now() - this.#closed > closingTime);
  }

  /** The same, and begins no call until the work is done. */
  async holdWhile<T>(work: () => Promise<T> | T): Promise<T> {
    this.#holds++;
    try {
      return await this.whileBusy(work);
    } finally {
      this.#holds--;
    }
  }

  /**
   * Has the run end because something can't be recorded: without the ends of live calls it might wait for ever. A busy file only
   * delays, and a rule that was broken is the caller's.
   */
  fail(error: unknown): void {
    const isPassing =
      error instanceof LedgerException && (error.reason === "busy" || error.reason === "closed");
    if (isPassing || error instanceof BadParametersException) return;
    this.#failure ??= { error };
    this.wakeUp.announce();
  }

  /** How many requests wait for their answer, or for its record. */
  get underWay(): number {
    return this.#inFlight.size + this.#polling.count + this.ending.count;
  }

  /** When the next live call is asked for, in milliseconds since 1970; `Infinity` when none is. */
  get nextPoll(): number {
    return this.#polling.wake;
  }

  /** When the next call may begin, in milliseconds since 1970; `Infinity` when nothing waits. */
  get nextCall(): number {
    const sql = this.#sql;
    const now = this.#settings.clock();
    const { waiting = 0 } = tallyOf(sql);
    if (waiting === 0) return Number.POSITIVE_INFINITY;
    const due = this.#dueContacts.nextDue(now);
    const pace = Math.max(this.#pace.nextAt(now), this.#sending.freeAt(now));
    return Math.ceil(Math.max(due, pace, this.#day.freeAt(now)));
  }

  /** When the last contact that waits is called at a rate; `Infinity` when nothing waits, or never. */
  lastCall(rate: number): number {
    const { waiting = 0 } = tallyOf(this.#sql);
    const next = this.nextCall;
    if (next === Number.POSITIVE_INFINITY) return next;
    // Hours of its own: these remember the present, which the dialer needs.
    const hours = hoursOf(this.#settings);
    return hours.finishes(next, ((waiting - 1) / rate) * 1000, zonesOf(this.#sql));
  }

  /**
   * Does what is due.
   *
   * @returns when to come back, in milliseconds since 1970; `undefined` when nothing will be due by itself
   * @throws what the database throws, when it can't be written; a busy file only delays
   */
  step(): Promise<number | undefined> {
    const step = this.#lastStep.then(() => this.#step());
    this.#lastStep = step.catch(() => {});
    return step;
  }

  async #step(): Promise<number | undefined> {
    if (this.wakeUp.isClosed) return;
    if (this.#failure) throw this.#failure.error;
    const { clock } = this.#settings;
    try {
      await this.#attend();
      if (!(await this.#endOverdue())) return clock();
      if (this.#holds > 0) return clock() + busyInterval;
      if (stateOfCampaign(this.#sql) === "running") {
        await this.#repeatLost();
        await this.#dial();
      }
      return this.#wake();
    } catch (error) {
      if (!isBusyError(error)) throw error;
      return clock() + busyInterval;
    }
  }

  /**
   * Frees the slots of the attempts that no final notification came for, asks for the calls that are due, and ends them
   * if that is asked for.
   *
   * @returns when to come back; `undefined` when no call is live
   */
  async giveUp(): Promise<number | undefined> {
    if (this.#failure) throw this.#failure.error;
    try {
      await this.#attend();
      const next = Math.min(nextToGiveUp(this.#sql), this.#polling.wake);
      return next === Number.POSITIVE_INFINITY ? undefined : next;
    } catch (error) {
      if (!isBusyError(error)) throw error;
      return this.#settings.clock() + busyInterval;
    }
  }

  /** Does what live calls need. */
  async #attend(): Promise<void> {
    await this.#giveUp();
    this.ending.endKnown();
    this.#polling.poll(this.#mostRequests - this.underWay, () => this.wakeUp.announce());
  }

  async #giveUp(): Promise<void> {
    const at = this.#settings.clock();
    if (nextToGiveUp(this.#sql) <= at) {
      await this.#sql.commit(() => giveUp(this.#sql, at, this.#settings));
    }
  }

  /**
   * Ends a page of the contacts that no longer wait for anything.
   *
   * @returns whether none are left
   */
  async #endOverdue(): Promise<boolean> {
    const at = this.#settings.clock();
    const sql = this.#sql;
    const isCanceled = stateOfCampaign(sql) === "canceled";
    const { waiting = 0 } = tallyOf(sql);
    if (waiting === 0 || (!isCanceled && at < endOf(this.#settings))) return true;
    return !(await sql.commit(() => endWaiting(sql, isCanceled ? "canceled" : "expired", at)));
  }

  /** Waits until every POST has its answer, and that is recorded. */
  async posted(): Promise<void> {
    while (this.#inFlight.size > 0) await Promise.all(this.#inFlight);
  }

  /** Waits until every request has its answer, and that is recorded. */
  async idle(): Promise<void> {
    await this.posted();
    await this.#polling.idle();
    await this.ending.idle();
  }

  /** Begins no further call, and waits until nothing is under way. */
  async close(): Promise<void> {
    this.#closed = Math.min(this.#closed, performance.now());
    this.wakeUp.close();
    await this.#lastStep;
    await this.idle();
  }

  /** Begins the calls that are due, as many as pace and slots allow. */
  async #dial(): Promise<void> {
    const sql = this.#sql;
    const now = this.#settings.clock();
    const freeSlots = this.#slots - openNow(sql);
    const wanted = Math.min(
      mostPerStep,
      this.#pace.free(now),
      freeSlots,
      this.#mostRequests - this.underWay,
    );
    if (wanted <= 0 || this.#day.freeAt(now) > now || this.#sending.freeAt(now) > now) return;
    const campaign = String(factOf(sql, "id"));
    // Signed before the claim: what can't be signed claims nothing.
    const { idempotent } = this.#settings;
    const calls = await Promise.all(
      this.#dueContacts.dueNow(now, wanted, letsOthersPass(sql)).map(async (row) => {
        const { from_number = senderOf(row.to_number, this.#settings.from_number) } = row;
        const contact = { ...row, from_number };
        const signed = Date.now();
        const params = await paramsOf(contact, campaign, this.#settings, signed);
        const sent = idempotent ? await sentOf(params, signed, this.#settings) : undefined;
        return { contact, params, sent };
      }),
    );
    if (calls.length === 0) return;
    const claimAll = (): ReadonlySet<number> => {
      const claimed = this.#claim(calls.map(({ contact }) => contact));
      for (const { contact, sent } of calls) {
        const key = { contact: contact.contact, attempt: contact.attempts + 1 };
        if (sent && claimed.has(contact.contact)) keepSent(sql, key, sent);
      }
      return claimed;
    };
    // No request is sent before the commit. Where the pace decides, it waits for no other: calls that begin late stay late,
    // since the pace makes up for them only as far as no second has too many. Where slots decide, it waits, since more slots become free meanwhile.
    const claimed = await (wanted < freeSlots ? sql.commitAtOnce(claimAll) : sql.commit(claimAll));
    for (const { contact, params, sent } of calls) {
      if (!claimed.has(contact.contact)) continue;
      const began = this.#settings.clock();
      this.#track(async () => {
        const answer = await this.#post(contact, params, sent);
        const { contact: number, attempts, call_id } = contact;
        await this.#record({ contact: number, attempt: attempts + 1, call_id, answer, began });
      });
      // A commit takes its time: the pace is that of the POSTs.
      this.#pace.take(this.#settings.clock());
    }
  }

  /**
   * Checks everything that must hold at the moment of a claim, and claims, in a transaction of the
   * caller's. What was read before it may have changed.
   *
   * @returns the contacts to POST for
   */
  #claim(contacts: readonly DueContact[]): ReadonlySet<number> {
    const sql = this.#sql;
    const { clock, settleTimeout } = this.#settings;
    const at = clock();
    const isOver = this.wakeUp.isClosed || this.#holds > 0 || at >= endOf(this.#settings);
    if (isOver || stateOfCampaign(sql) !== "running") return new Set();
    const free = Math.min(this.#pace.free(at), this.#slots - openNow(sql), this.#day.left(at));
    const candidates = candidatesOf(
      sql,
      contacts.map(({ contact }) => contact),
    );
    const some: DueContact[] = [];
    for (const contact of contacts) {
      if (some.length >= free) break;
      const row = candidates.get(contact.contact);
      if (!row || !mayBeCalled(sql, row, contact, at, this.#settings)) continue;
      if (this.#hours.at(at, contact.timezone).open) some.push(contact);
    }
    const claimed = claim(sql, some, at, at + settleTimeout);
    this.#day.take(at, claimed.size);
    if (claimed.size > 0) setFact(sql, lastClaim, at);
    return claimed;
  }

  /** Sends the request of an attempt; `posted` waits for it. */
  #track(request: () => Promise<void>): void {
    const work = waitingBy(this.#settings.clock)
      .turn(request)
      .finally(() => {
        this.#inFlight.delete(work);
        this.wakeUp.announce();
      });
    this.#inFlight.add(work);
  }

  async #post(
    { contact, attempts, timezone }: DueContact,
    params: CallAtUrls,
    sent: Sent | undefined,
  ): Promise<Answer> {
    const tooLate: Answer = { type: "unsent", detail: "the hours had ended" };
    // A commit may take its time: a disk that stalls, a machine that sleeps.
    const hours = this.#hoursOf(timezone, sent && this.#settings.clock() + repeatedFor);
    if (!hours) return tooLate;
    const { notAfter } = hours;
    const key = { contact, attempt: attempts + 1 };
    let posts = 0;
    const beforeSend = async () => {
      await this.#sending.untilFree();
      // The claim has checked the first one.
      if (sent && posts++ > 0) this.#requireRepeatable(key);
    };
    const keyed = keyedOptions({ ...hours, beforeSend }, sent?.key);
    try {
      return answerOf(await this.#settings.create(params, keyed.options));
    } catch (error) {
      const isLate = notAfter && Date.now() >= notAfter.getTime();
      return isLate && isUnsent(error) ? tooLate : answerOfError(error);
    } finally {
      if (sent && keyed.isPassedOn()) this.#passesKey = true;
      else if (sent) await this.#forget(key, sent);
    }
  }

  /** Has an attempt be asked for no more: its request was sent without the key. */
  async #forget(key: Attempt, sent: Sent): Promise<void> {
    const sql = this.#sql;
    this.#repeats.never(sent);
    try {
      await this.whileBusy(() => sql.commit(() => keepSent(sql, key, undefined)));
    } catch (error) {
      this.#failure ??= { error };
    }
  }

  /** Asks again for attempts whose answers were lost. */
  async #repeatLost(): Promise<void> {
    const { idempotent, clock } = this.#settings;
    if (!idempotent || !this.#passesKey) return;
    const at = clock();
    const free = Math.max(0, this.#mostRequests - this.underWay);
    const due = this.#repeats.due(lostAttempts(this.#sql, at, this.#settings), at);
    for (const lost of due.slice(0, free)) {
      const params = await paramsAgain(this.#sql, lost, this.#settings);
      if (!params) {
        this.#repeats.never(lost);
        continue;
      }
      this.#track(() => this.#repeats.during(lost, clock, () => this.#askAgain(lost, params)));
    }
  }

  /** Sends the request of an attempt again. Only the id of the call is an answer: what the first one may have placed stays open. */
  async #askAgain(lost: LostAttempt, params: CallAtUrls): Promise<void> {
    const { contact, attempt, claimed, key, row } = lost;
    const began = this.#settings.clock();
    try {
      const hours = this.#hoursOf(row.timezone, claimed + repeatedFor);
      if (!hours) return;
      const beforeSend = async () => {
        await this.#sending.untilFree();
        this.#requireRepeatable(lost);
        if (!keyed.isPassedOn()) throw new Error("create drops the key");
      };
      // For a `create` that drops `beforeSend`.
      this.#requireRepeatable(lost);
      const keyed = keyedOptions({ ...hours, beforeSend }, key);
      const answer = answerOf(
        await this.#settings.create(params, keyed.options).finally(() => {
          if (keyed.isPassedOn()) return;
          this.#passesKey = false;
          this.#repeats.never(lost);
        }),
      );
      if (answer.type !== "placed") return;
      await this.#record({ contact, attempt, call_id: undefined, answer, began });
    } catch (error) {
      if (endsAsking(error)) this.#repeats.never(lost);
    }
  }

  /** @throws {Error} where the request of an attempt must not be sent again at this moment */
  #requireRepeatable(attempt: Attempt): void {
    const sql = this.#sql;
    const at = this.#settings.clock();
    const isOver = this.wakeUp.isClosed || this.#holds > 0 || at >= endOf(this.#settings);
    const isRunning = !isOver && stateOfCampaign(sql) === "running";
    if (!isRunning || !isRepeatable(sql, attempt, at)) throw new Error("not asked again");
  }

  /**
   * When the hours end in which a contact may be called; `undefined` when they have ended.
   *
   * @param most - an earlier end
   */
  #hoursOf(
    timezone: string,
    most: number = Number.POSITIVE_INFINITY,
  ): { readonly notAfter: Date | undefined } | undefined {
    try {
      const { clock } = this.#settings;
      const at = clock();
      const end = Math.min(endOf(this.#settings), this.#hours.closes(at, timezone), most);
      return at < end ? { notAfter: onMachine(clock, end) } : undefined;
    } catch {
      return; // Without a clock nobody is called.
    }
  }

  /** Records an answer, with all others that come in the same turn. */
  #record(answered: Answered & Begun): Promise<void> {
    if (answered.answer.type === "later") this.#pace.slow(this.#settings.clock());
    if (this.#answered.push(answered) === 1) {
      this.#recording = Promise.resolve().then(() => this.#recordAll(this.#answered.splice(0)));
    }
    return this.#recording;
  }

  async #recordAll(answers: readonly (Answered & Begun)[]): Promise<void> {
    const sql = this.#sql;
    const write = (): void => {
      const at = this.#settings.clock();
      for (const { began } of recordAnswers(sql, answers, at, this.#settings)) {
        this.#day.giveBack(began);
      }
    };
    try {
      await this.whileBusy(() => sql.commit(write));
    } catch (error) {
      // What can't be recorded takes no other with it.
      if (answers.length > 1) for (const one of answers) await this.#recordAll([one]);
      else this.#failure ??= { error };
    }
  }

  #wake(): number | undefined {
    const sql = this.#sql;
    const tally = tallyOf(sql);
    const { waiting = 0 } = tally;
    const times = [nextToGiveUp(sql)];
    // Each answer is a wake-up of its own.
    const hasRequests = this.underWay < this.#mostRequests;
    if (hasRequests) times.push(this.#polling.wake);
    if (waiting > 0) times.push(endOf(this.#settings));
    const { idempotent, clock } = this.#settings;
    if (idempotent && this.#passesKey && hasRequests && stateOfCampaign(sql) === "running") {
      const at = clock();
      times.push(this.#repeats.wake(lostAttempts(sql, at, this.#settings), at));
    }
    const isFull = openIn(tally) >= this.#slots || !hasRequests;
    if (waiting > 0 && !isFull && stateOfCampaign(sql) === "running") times.push(this.nextCall);
    const wake = Math.min(...times);
    return wake === Number.POSITIVE_INFINITY ? undefined : Math.ceil(wake);
  }
}
