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
import { type Claim, candidatesOf, claim, mayBeCalled, setAside } from "./claims.ts";
import { endWaiting } from "./contact-state.ts";
import { DueContacts, zonesOf } from "./due-contacts.ts";
import { Ending } from "./ending.ts";
import { LedgerException } from "./errors.ts";
import { defaultConcurrency, type ListSettings, type ServiceSettings } from "./options.ts";
import { DailyLimit } from "./pace.ts";
import { Polling, pollsFor } from "./polling.ts";
import { endOf, openIn, stateOfCampaign, tallyOf } from "./progress.ts";
import {
  endsAsking,
  isRepeatable,
  keepSent,
  keyedOptions,
  LatestTime,
  type LostAttempt,
  lostAttempts,
  paramsAgain,
  Repeats,
  repeatedFor,
  type Sent,
  sentOf,
} from "./repeats.ts";
import { onMachine, paramsOf, senderAt } from "./request.ts";
import { type Assigned, type DialedService, Services } from "./services.ts";
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

const zoneOf = ({ window }: ListSettings): string => {
  const [first] = [window].flat();
  return typeof first === "object" ? first.timezone : "UTC";
};

const hoursOf = ({ window }: ListSettings): CallingHours =>
  new CallingHours(window === "always" ? window : [window].flat());

/** When the POST of an attempt began. */
interface Begun {
  readonly began: number;
}

/** What bounds and wakes a dialer beside the options of its campaign. */
export interface DialerLimits {
  /** How many requests wait for their answer at once, at most. */
  readonly mostRequests?: number | undefined;
  /** How many calls a service is asked for in a second, at most, by its name. */
  readonly pollsPerSecond?: ((service: string | undefined) => number | undefined) | undefined;
}

/** Dials what is due: it alone makes the POSTs of a campaign. */
export class Dialer {
  readonly #sql: Sql;
  readonly #settings: ListSettings;
  readonly services: Services;
  readonly #hours: CallingHours;
  readonly #dueContacts: DueContacts;
  readonly #day: DailyLimit;
  readonly #mostRequests: number;
  readonly #inFlight = new Set<Promise<void>>();
  /** Answers that are not recorded yet, and when they will be. */
  readonly #answered: (Answered & Begun)[] = [];
  #recording: Promise<void> = Promise.resolve();
  /** One for each service. */
  readonly #polling: readonly Polling[];
  readonly #repeats = new Repeats();
  readonly #latest: LatestTime;
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
    all: readonly [ServiceSettings, ...ServiceSettings[]],
    { mostRequests = Number.POSITIVE_INFINITY, pollsPerSecond }: DialerLimits = {},
  ) {
    const [settings] = all;
    const { perDay = Number.POSITIVE_INFINITY, clock } = settings;
    this.#sql = sql;
    this.#latest = new LatestTime(sql);
    this.#settings = settings;
    this.services = new Services(all, Number(factOf(sql, lastClaim)));
    this.#mostRequests = mostRequests;
    const write = <T>(work: () => T): Promise<T> => this.whileBusy(() => sql.commit(work));
    this.#polling = all.map((each) => {
      const { name, notified, concurrency = notified ? defaultConcurrency : undefined } = each;
      const perSecond = pollsPerSecond?.(name) ?? pollsFor(concurrency);
      return new Polling(sql, each, perSecond, { write, failed: (error) => this.fail(error) });
    });
    this.ending = new Ending(sql, (name) => this.services.find(name)?.settings, {
      most: mostRequests,
      canEnd: all.some(({ end }) => end !== undefined),
      clock,
      write,
      done: () => this.wakeUp.announce(),
    });
    this.#hours = hoursOf(settings);
    this.#dueContacts = new DueContacts(sql, this.#hours, hoursOf(settings));
    this.#day = new DailyLimit(sql, perDay, zoneOf(settings), clock());
  }

  /** Calls a second as they are now. */
  get rate(): number {
    return this.services.rateAt(this.#settings.clock());
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
    const polls = this.#polling.reduce((sum, { count }) => sum + count, 0);
    return this.#inFlight.size + polls + this.ending.count;
  }

  /** When the next live call is asked for, in milliseconds since 1970; `Infinity` when none is. */
  get nextPoll(): number {
    return Math.min(...this.#polling.map(({ wake }) => wake));
  }

  /** When the next call may begin, in milliseconds since 1970; `Infinity` when nothing waits. */
  get nextCall(): number {
    const sql = this.#sql;
    const now = this.#settings.clock();
    const { waiting = 0 } = tallyOf(sql);
    if (waiting === 0) return Number.POSITIVE_INFINITY;
    return this.#nextCallAt(now, this.services.nextAt(now));
  }

  /** @param pace - when a service may begin the next one */
  #nextCallAt(now: number, pace: number): number {
    return Math.ceil(Math.max(this.#dueContacts.nextDue(now), pace, this.#day.freeAt(now)));
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
      const next = Math.min(nextToGiveUp(this.#sql), this.nextPoll);
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
    for (const polling of this.#polling) {
      polling.poll(this.#mostRequests - this.underWay, () => this.wakeUp.announce());
    }
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
    for (const polling of this.#polling) await polling.idle();
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
    const open = this.services.openNow(sql);
    let freeSlots = 0;
    let most = 0;
    const free = new Map<DialedService, number>();
    for (const service of this.services.all) {
      freeSlots += service.freeSlots(now, open(service));
      const calls = service.sending.freeAt(now) > now ? 0 : service.free(now, open(service));
      free.set(service, calls);
      most += calls;
    }
    const wanted = Math.min(mostPerStep, most, this.#mostRequests - this.underWay);
    if (wanted <= 0 || this.#day.freeAt(now) > now) return;
    const campaign = String(factOf(sql, "id"));
    const due = this.#dueContacts.dueNow(now, wanted, letsOthersPass(sql));
    if (due.length === 0) return;
    const { calls: assigned, left } = this.services.assign(sql, due, free);
    // Signed before the claim: what can't be signed claims nothing.
    const { idempotent } = this.#settings;
    const calls = await Promise.all(
      assigned.map(async ({ contact, service }) => {
        const { settings } = service;
        const from_number = senderAt(contact, settings);
        const signed = Date.now();
        const params = await paramsOf({ ...contact, from_number }, campaign, settings, signed);
        const sent = idempotent ? await sentOf(params, signed, settings) : undefined;
        return { contact, service, params, sent };
      }),
    );
    const claimAll = (): ReadonlySet<number> => {
      if (left.length > 0) setAside(sql, left, this.services, this.#settings.clock());
      const claimed = this.#claim(calls);
      for (const { contact, sent } of calls) {
        const key = { contact: contact.contact, attempt: contact.attempts + 1 };
        if (sent && claimed.has(contact.contact)) keepSent(sql, key, sent);
      }
      return claimed;
    };
    // No request is sent before the commit. Where the pace decides, it waits for no other: calls that begin late stay late,
    // since the pace makes up for them only as far as no second has too many. Where slots decide, it waits, since more slots become free meanwhile.
    const claimed = await (wanted < freeSlots ? sql.commitAtOnce(claimAll) : sql.commit(claimAll));
    for (const { contact, service, params, sent } of calls) {
      if (!claimed.has(contact.contact)) continue;
      const began = this.#settings.clock();
      this.#track(async () => {
        const answer = await this.#post({ contact, service }, params, sent);
        const { contact: number, attempts, call_id } = contact;
        const key = { contact: number, attempt: attempts + 1 };
        await this.#record({ ...key, call_id, answer, began, service });
      });
      // A commit takes its time: the pace is that of the POSTs.
      service.pace.take(this.#settings.clock());
    }
  }

  /**
   * Checks everything that must hold at the moment of a claim, and claims, in a transaction of the
   * caller's. What was read before it may have changed.
   *
   * @returns the contacts to POST for
   */
  #claim(calls: readonly (Assigned & { readonly params: CallAtUrls })[]): ReadonlySet<number> {
    const sql = this.#sql;
    const { clock, settleTimeout } = this.#settings;
    const at = clock();
    const isOver = this.wakeUp.isClosed || this.#holds > 0 || at >= endOf(this.#settings);
    if (isOver || stateOfCampaign(sql) !== "running") return new Set();
    const open = this.services.openNow(sql);
    const ofDay = this.#day.left(at);
    const candidates = candidatesOf(
      sql,
      calls.map(({ contact }) => contact.contact),
    );
    const claimed = new Set<number>();
    for (const service of this.services.all) {
      const free = Math.min(service.free(at, open(service)), ofDay - claimed.size);
      const some: Claim[] = [];
      for (const { contact, service: own, params } of calls) {
        if (some.length >= free) break;
        const row = candidates.get(contact.contact);
        if (own !== service || !row) continue;
        if (!mayBeCalled(sql, row, contact, at, this.#settings)) continue;
        const { contact: number, attempts } = contact;
        const { from_number } = params;
        if (this.#hours.at(at, contact.timezone).open) {
          some.push({ contact: number, attempts, from_number });
        }
      }
      for (const each of claim(sql, some, at, at + settleTimeout, service.name)) claimed.add(each);
    }
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
    { contact: { contact, attempts, timezone }, service }: Assigned,
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
      await service.sending.untilFree();
      // The claim has checked the first one.
      if (sent && posts++ > 0) this.#requireRepeatable(key, service);
    };
    const keyed = keyedOptions({ ...hours, beforeSend }, sent?.key);
    try {
      return answerOf(await service.settings.create(params, keyed.options));
    } catch (error) {
      const isLate = notAfter && Date.now() >= notAfter.getTime();
      return isLate && isUnsent(error) ? tooLate : answerOfError(error);
    } finally {
      if (sent && keyed.isPassedOn()) service.passesKey = true;
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
    if (!idempotent) return;
    const at = clock();
    const free = Math.max(0, this.#mostRequests - this.underWay);
    const due = this.#repeats.due(this.#lostAttempts(at), at);
    for (const lost of due.slice(0, free)) {
      const service = this.services.find(lost.service);
      const params = service && (await paramsAgain(this.#sql, lost, service.settings));
      if (!params) {
        this.#repeats.never(lost);
        continue;
      }
      this.#track(() =>
        this.#repeats.during(lost, clock, () => this.#askAgain(lost, params, service)),
      );
    }
  }

  /** The attempts that may be asked for again at their services, which pass the key on and are not paused. */
  #lostAttempts(at: number): readonly LostAttempt[] {
    const latest = this.#latest.at(at);
    return lostAttempts(this.#sql, at, latest, this.#settings).filter((lost) => {
      const service = this.services.find(lost.service);
      return service?.passesKey && service.pausedFor === undefined;
    });
  }

  /** Sends the request of an attempt again. Only the id of the call is an answer: what the first one may have placed stays open. */
  async #askAgain(lost: LostAttempt, params: CallAtUrls, service: DialedService): Promise<void> {
    const { contact, attempt, claimed, key, row } = lost;
    const began = this.#settings.clock();
    try {
      const hours = this.#hoursOf(row.timezone, claimed + repeatedFor);
      if (!hours) return;
      const beforeSend = async () => {
        await service.sending.untilFree();
        this.#requireRepeatable(lost, service);
        if (!keyed.isPassedOn()) throw new Error("create drops the key");
      };
      // For a `create` that drops `beforeSend`.
      this.#requireRepeatable(lost, service);
      const keyed = keyedOptions({ ...hours, beforeSend }, key);
      const answer = answerOf(
        await service.settings.create(params, keyed.options).finally(() => {
          if (keyed.isPassedOn()) return;
          service.passesKey = false;
          this.#repeats.never(lost);
        }),
      );
      if (answer.type !== "placed") return;
      await this.#record({ contact, attempt, call_id: undefined, answer, began, service });
    } catch (error) {
      if (endsAsking(error)) this.#repeats.never(lost);
    }
  }

  /** @throws {Error} where the request of an attempt must not be sent again at this moment */
  #requireRepeatable(attempt: Attempt, { pausedFor }: DialedService): void {
    const sql = this.#sql;
    const at = this.#settings.clock();
    const isOver = this.wakeUp.isClosed || this.#holds > 0 || at >= endOf(this.#settings);
    const isRunning = !isOver && !pausedFor && stateOfCampaign(sql) === "running";
    const latest = this.#latest.at(at);
    if (!isRunning || !isRepeatable(sql, attempt, at, latest)) throw new Error("not asked again");
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
    const { answer, service } = answered;
    if (answer.type === "placed") service.works();
    if (answer.type === "later") {
      this.services.slow(service, this.#settings.clock(), answer.retryAfter);
    }
    if (this.#answered.push(answered) === 1) {
      this.#recording = Promise.resolve().then(() => this.#recordAll(this.#answered.splice(0)));
    }
    return this.#recording;
  }

  async #recordAll(answers: readonly (Answered & Begun)[]): Promise<void> {
    const sql = this.#sql;
    const write = (): void => {
      const at = this.#settings.clock();
      for (const { began } of recordAnswers(sql, answers, at, this.services)) {
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
    if (hasRequests) times.push(this.nextPoll);
    if (waiting > 0) times.push(endOf(this.#settings));
    const { idempotent, clock } = this.#settings;
    const now = clock();
    if (idempotent && hasRequests && stateOfCampaign(sql) === "running") {
      times.push(this.#repeats.wake(this.#lostAttempts(now), now));
    }
    if (waiting > 0 && hasRequests) {
      const open = this.services.openNow(sql, openIn(tally));
      const unfilled = this.services.all.filter((each) => each.hasSlots(open(each)));
      const pace = Math.min(...unfilled.map((each) => each.nextAt(now)));
      const mayCall = pace < Number.POSITIVE_INFINITY && stateOfCampaign(sql) === "running";
      if (mayCall) times.push(this.#nextCallAt(now, pace));
    }
    const wake = Math.min(...times);
    return wake === Number.POSITIVE_INFINITY ? undefined : Math.ceil(wake);
  }
}
