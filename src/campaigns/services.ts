import { fail } from "../lib/check.ts";
import type { DueContact } from "./due-contacts.ts";
import { LedgerException } from "./errors.ts";
import { defaultConcurrency, type ServiceSettings } from "./options.ts";
import { Pace, SendingPace } from "./pace.ts";
import { openNow, setStateOfCampaign } from "./progress.ts";
import type { Sql } from "./sqlite.ts";
import { audit } from "./tables.ts";

/** The longest wait that grows by itself, in seconds. */
const longestWait = 60;

/** Milliseconds between two tries, at least: a service may ask for none. */
export const leastWait = 1_000;

/** Milliseconds to wait after answers in a row that asked for it. */
export const waitAfter = (inRow: number, retryAfter: number | undefined): number =>
  Math.max(leastWait, Math.ceil((retryAfter ?? Math.min(longestWait, 2 ** inRow)) * 1000));

/** A service as a process dials by it: its settings, its pace, its slots and its pauses. */
export class DialedService {
  readonly settings: ServiceSettings;
  /** What the ledger knows it by; `undefined` where the campaign has no others. */
  readonly name: string | undefined;
  readonly pace: Pace;
  readonly sending: SendingPace;
  /** Whether `create` passes the key on, as far as is known: one that declares no options may drop it. */
  passesKey: boolean;
  /** Why it begins no call until the campaign is resumed. */
  pausedFor: string | undefined;
  readonly #slots: number;
  /** Until when it begins no call, since it asked for that. */
  #rest = { from: 0, until: 0 };
  #restsInRow = 0;

  /** @param last - when the last call of an earlier process was claimed */
  constructor(settings: ServiceSettings, last: number) {
    const { name, rate, clock, notified } = settings;
    const { concurrency = notified ? defaultConcurrency : Number.POSITIVE_INFINITY } = settings;
    this.settings = settings;
    this.name = name;
    this.passesKey = settings.create.length > 1;
    this.#slots = concurrency;
    this.pace = new Pace(rate, clock(), last);
    this.sending = new SendingPace(rate, clock, last);
  }

  /** Whether a slot is free, however the service is paused. */
  hasSlots(open: number): boolean {
    return open < this.#slots;
  }

  /** How many slots are free, of a service that is not paused. */
  freeSlots(now: number, open: number): number {
    return this.#pausedUntil(now) > now ? 0 : this.#slots - open;
  }

  /** How many calls may be claimed. */
  free(now: number, open: number): number {
    return Math.max(0, Math.min(this.pace.free(now), this.freeSlots(now, open)));
  }

  /** When the next call may begin, in milliseconds since 1970, whatever the slots; `Infinity` while it is paused. */
  nextAt(now: number): number {
    return Math.max(this.pace.nextAt(now), this.sending.freeAt(now), this.#pausedUntil(now));
  }

  /** The service asked to wait, or can't be reached: the others go on. */
  rest(now: number, retryAfter: number | undefined): void {
    if (this.#pausedUntil(now) > now) return;
    this.#rest = { from: now, until: now + waitAfter(this.#restsInRow++, retryAfter) };
  }

  /** It has placed a call. */
  works(): void {
    this.#restsInRow = 0;
  }

  #pausedUntil(now: number): number {
    if (this.pausedFor !== undefined) return Number.POSITIVE_INFINITY;
    const { from, until } = this.#rest;
    // A clock that was set back holds nobody up.
    return now < from ? now : until;
  }
}

/** Which service calls a contact now. */
export interface Assigned {
  readonly contact: DueContact;
  readonly service: DialedService;
}

/** The services of a campaign. One without a name is a set of one. */
export class Services {
  readonly all: readonly DialedService[];
  /** Whether no call can go to another. */
  readonly isOne: boolean;

  /** @param last - when the last call of an earlier process was claimed */
  constructor(settings: readonly ServiceSettings[], last: number) {
    this.all = settings.map((each) => new DialedService(each, last));
    this.isOne = settings.length === 1;
  }

  /** The service with a name, if the campaign has it. */
  find(name: string | undefined): DialedService | undefined {
    return this.all.find((each) => each.name === name);
  }

  /**
   * The service with the name that a caller gives.
   *
   * @throws {BadParametersException}
   */
  named(name: string | undefined): DialedService {
    return this.find(name) ?? fail("service", "must be the name of one of the campaign's services");
  }

  /** Calls a second as they are now. */
  rateAt(now: number): number {
    return this.all.reduce((sum, { pace }) => sum + pace.rateAt(now), 0);
  }

  /** When the next call may begin at one of them. */
  nextAt(now: number): number {
    return Math.min(...this.all.map((each) => each.nextAt(now)));
  }

  /**
   * Reads how many calls are open at each.
   *
   * @param all - at all of them, where that is known
   */
  openNow(sql: Sql, all?: number): (service: DialedService) => number {
    if (this.isOne) {
      const open = all ?? openNow(sql);
      return () => open;
    }
    const counts = new Map(
      sql
        .all(
          `select service, count(*) as open from outdial_attempt
           where service is not null and state <> 'settled' group by service`,
        )
        .map(({ service, open }) => [service, Number(open)]),
    );
    return ({ name = null }) => counts.get(name) ?? 0;
  }

  /** Slows a service that asked for that, or can't be reached, and lets it rest where the others go on. */
  slow(service: DialedService, now: number, retryAfter: number | undefined): void {
    service.pace.slow(now);
    if (!this.isOne) service.rest(now, retryAfter);
  }

  /** Pauses a service, and the campaign once all are, in a transaction of the caller's. */
  pause(sql: Sql, service: DialedService, at: number, reason: string): void {
    service.pausedFor = reason;
    const { name } = service;
    if (name !== undefined) audit(sql, { at, event: "paused", detail: `${name}: ${reason}` });
    const reasons = this.paused();
    if (reasons.length < this.all.length) return;
    setStateOfCampaign(sql, "paused", { at, event: "paused", reason: reasons.join("; ") });
  }

  /** Why services are paused. */
  paused(): readonly string[] {
    return this.all.flatMap(({ name, pausedFor }) => {
      if (pausedFor === undefined) return [];
      return [name === undefined ? pausedFor : `${name}: ${pausedFor}`];
    });
  }

  /** Lets all of them go on. */
  resume(): void {
    for (const service of this.all) service.pausedFor = undefined;
  }

  /**
   * Gives each contact the first service that has a call free and has not refused it.
   *
   * @param free - how many calls may begin at each; it is used up
   */
  assign(
    sql: Sql,
    contacts: readonly DueContact[],
    free: Map<DialedService, number>,
  ): { readonly calls: readonly Assigned[]; readonly left: readonly DueContact[] } {
    const refusals = this.isOne ? undefined : refusalsOf(sql, contacts);
    const calls: Assigned[] = [];
    const left: DueContact[] = [];
    for (const contact of contacts) {
      const refusedBy = refusals?.get(contact.contact);
      const service = this.all.find(
        (each) => free.get(each) && !refusedBy?.includes(each.name ?? ""),
      );
      if (service) {
        free.set(service, (free.get(service) ?? 0) - 1);
        calls.push({ contact, service });
      } else left.push(contact);
    }
    return { calls, left };
  }

  /**
   * Records that a service refused an attempt of a contact.
   *
   * @returns whether another one may place it
   */
  noteRefusal(sql: Sql, contact: number, attempt: number, { name }: DialedService): boolean {
    if (this.isOne) return false;
    const [{ refused_by } = {}] = sql.all(
      `update outdial_attempt set refused_by = coalesce(refused_by || ' ', '') || ?
       where contact = ? and attempt = ? returning refused_by`,
      name ?? "",
      contact,
      attempt,
    );
    return this.isLeft(String(refused_by).split(" "));
  }

  /** Whether a service is left beside those that have refused an attempt. */
  isLeft(refusedBy: readonly string[]): boolean {
    return this.all.some(({ name = "" }) => !refusedBy.includes(name));
  }
}

/** The names of the services that have refused the next attempts of some contacts, by their numbers in the ledger. */
export const refusalsOf = (
  sql: Sql,
  contacts: readonly Pick<DueContact, "contact" | "attempts">[],
): ReadonlyMap<number, readonly string[]> =>
  new Map(
    sql
      .all(
        `select contact, refused_by from json_each(?) w cross join outdial_attempt
         where contact = cast(w.key as integer) and attempt = w.value and refused_by is not null`,
        JSON.stringify(
          Object.fromEntries(contacts.map(({ contact, attempts }) => [contact, attempts + 1])),
        ),
      )
      .map((row) => [Number(row.contact), String(row.refused_by).split(" ")]),
  );

/** The names of the services that a ledger belongs to; none where it has one without a name. */
export const serviceNamesIn = (sql: Sql): readonly string[] =>
  sql.all("select name from outdial_service order by name").map(({ name }) => String(name));

/**
 * Gives a ledger new services, or makes sure that it has these, in a transaction of the caller's.
 *
 * @param identities - the digest of each service, by its name
 * @throws {LedgerException} `other_campaign`, where none is known, or one is another; `missing_service`, where one that has live
 * calls is not among them
 */
export const identifyServices = (sql: Sql, identities: ReadonlyMap<string, string>): void => {
  const known = new Map(
    sql
      .all("select name, identity from outdial_service")
      .map(({ name, identity }) => [String(name), String(identity)]),
  );
  const shared = [...identities].filter(([name]) => known.has(name));
  const isOther = shared.some(([name, identity]) => known.get(name) !== identity);
  if (isOther || (known.size > 0 && shared.length === 0)) {
    throw new LedgerException("other_campaign");
  }
  const live = sql.all(
    "select distinct service from outdial_attempt where service is not null and state <> 'settled'",
  );
  if (live.some(({ service }) => !identities.has(String(service)))) {
    throw new LedgerException("missing_service");
  }
  for (const [name, identity] of identities) {
    sql.all("insert into outdial_service values (?, ?) on conflict do nothing", name, identity);
  }
};
