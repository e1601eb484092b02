import { type Disposition, isDisposition, isState, type State } from "./disposition.ts";
import { LedgerException } from "./errors.ts";
import type { Param, Row, Sql, Value } from "./sqlite.ts";

/**
 * A contact is a row, and its telephone is there once. A claim is a row of `outdial_attempt`, and its
 * primary key is why there can't be a second one. The next contact to dial and the next attempt to give
 * up are found by indexes that hold nothing else, so neither costs more in a long list. A trigger keeps
 * the tally.
 *
 * `listed`: whether the contact is in the list of the last `sync`; if not, no attempt follows.
 * `list`: which `add` or `sync` wrote the row. `wait`: milliseconds from the last event until `due`.
 * `outcome`: how the last attempt ended.
 *
 * Since version 5: `call_at`: when the contact asked to be called, or the list has it, and `call_for`: by which attempt;
 * a contact that waits is called for it if that is the next one. `call_backs`: how many attempts such wishes added.
 * `ask_at` of an attempt: when the service is asked what became of the call; it isn't given up then.
 * Since version 6: `cost` and `currency` of an attempt, as the carrier reported them.
 */
const firstTables = [
  "create table outdial_fact (name text primary key, value) without rowid",
  `create table outdial_contact (
    contact integer primary key,
    to_number text not null unique,
    id text,
    timezone text not null,
    variables text,
    line integer not null,
    list integer not null,
    listed integer not null default 1,
    added integer not null,
    state text not null,
    outcome text,
    reason text,
    attempts integer not null default 0,
    deferrals integer not null default 0,
    due integer not null default 0,
    wait integer not null default 0,
    call_id text
  )`,
  "create index outdial_due on outdial_contact (timezone, due) where state = 'waiting'",
  "create table outdial_zone (timezone text primary key) without rowid",
  `create table outdial_attempt (
    contact integer not null,
    attempt integer not null,
    state text not null,
    claimed integer not null,
    settle_by integer not null,
    ended integer,
    duration integer,
    detail text,
    primary key (contact, attempt)
  ) without rowid`,
  "create index outdial_open on outdial_attempt (settle_by) where state <> 'settled'",
  "create table outdial_blocked (to_number text primary key) without rowid",
  `create table outdial_audit (
    entry integer primary key,
    at integer not null,
    contact integer,
    attempt integer,
    event text not null,
    detail text
  )`,
  "create table outdial_tally (state text primary key, contacts integer not null) without rowid",
  `create trigger outdial_count after update of state on outdial_contact
   when old.state <> new.state begin
     update outdial_tally set contacts = contacts - 1 where state = old.state;
     insert into outdial_tally values (new.state, 1)
       on conflict (state) do update set contacts = contacts + 1;
   end`,
];

/**
 * What brings a ledger from each version to the next. A new ledger takes every step, too, so that its tables are those
 * of an older one. A step never changes once it is released; a new state of a contact needs one as well, which may be
 * empty, so that no older version reads it.
 */
const steps: readonly (readonly string[])[] = [
  firstTables,
  // A contact that may have been called is `unclear`, and no more `calling`.
  [
    `update outdial_contact set state = 'unclear' where state = 'calling' and exists (
       select 1 from outdial_attempt
       where outdial_attempt.contact = outdial_contact.contact and attempt = attempts
       and outdial_attempt.state = 'claimed')`,
  ],
  // By which secrets the people who were erased can be recognized.
  ["create table outdial_erasure_secret (digest text primary key) without rowid"],
  // Two spellings of a mobile are one telephone: `to_number` is that by which it is known, and `written` another one.
  [
    "alter table outdial_contact add column written text",
    ...["+521[2-9]", "+549[1-8]"].flatMap((start) => {
      const isLong = `to_number glob '${start}?????????'`;
      const short = `'${start.slice(0, 3)}' || substr(to_number, 5)`;
      return [
        `update or ignore outdial_contact set written = to_number, to_number = ${short} where ${isLong}`,
        // Both are in the list, and one is called.
        `update outdial_contact set state = 'refused', reason = 'the same telephone as another contact'
         where state = 'waiting' and ${isLong}`,
        `update or ignore outdial_blocked set to_number = ${short} where ${isLong}`,
      ];
    }),
    `update outdial_contact set state = 'blocked', reason = 'blocked' where state = 'waiting'
     and exists (select 1 from outdial_blocked b where b.to_number = outdial_contact.to_number)`,
  ],
  // Call-backs, several senders, what answered and what was answered, and calls that the service is asked about.
  [
    "alter table outdial_contact add column call_at integer",
    "alter table outdial_contact add column call_for integer not null default 0",
    "alter table outdial_contact add column call_backs integer not null default 0",
    "alter table outdial_contact add column from_number text",
    `create index outdial_call_back on outdial_contact (timezone, due)
     where state = 'waiting' and call_for > attempts`,
    "alter table outdial_attempt add column answered_by text",
    "alter table outdial_attempt add column person integer not null default 0",
    "alter table outdial_attempt add column message integer not null default 0",
    "alter table outdial_attempt add column failed integer not null default 0",
    `update outdial_attempt set failed = 1 where state <> 'settled' and exists (
       select 1 from outdial_contact c
       where c.contact = outdial_attempt.contact and attempts = attempt and outcome = 'flow_error')`,
    "alter table outdial_attempt add column ask_at integer",
    "alter table outdial_attempt add column asks integer not null default 0",
    "create index outdial_ask on outdial_attempt (ask_at) where ask_at is not null",
    `create table outdial_answer (
      contact integer not null,
      attempt integer not null,
      name text not null,
      value text not null,
      at integer not null,
      primary key (contact, attempt, name)
    ) without rowid`,
    `create table outdial_answer_name
     (place integer primary key, name text not null unique, at integer not null)`,
  ],
  // What carriers charge.
  [
    "alter table outdial_attempt add column cost text",
    "alter table outdial_attempt add column currency text",
  ],
];

/** What this version reads and writes. */
const version = steps.length;

/** A fact about the campaign itself, by name. */
export const factOf = (sql: Sql, name: string): Value =>
  sql.all("select value from outdial_fact where name = ?", name)[0]?.value ?? null;

export const setFact = (sql: Sql, name: string, value: Param): void => {
  sql.all(
    "insert into outdial_fact values (?, ?) on conflict (name) do update set value = excluded.value",
    name,
    value,
  );
};

const isThere = (sql: Sql): boolean =>
  sql.all("select 1 from sqlite_master where type = 'table' and name = 'outdial_fact'").length > 0;

/**
 * The version that wrote the ledger.
 *
 * @throws {LedgerException} `not_a_ledger` or `newer`
 */
const versionOf = (sql: Sql): number => {
  const written = isThere(sql) ? Number(factOf(sql, "version")) : 0;
  if (!(written >= 1)) throw new LedgerException("not_a_ledger");
  if (written > version) throw new LedgerException("newer");
  return written;
};

/** @throws {LedgerException} `not_a_ledger` or `newer` */
export const requireTables = (sql: Sql): void => void versionOf(sql);

/** Whether this version wrote the ledger last, and no older one. */
export const isCurrent = (sql: Sql): boolean => versionOf(sql) === version;

/**
 * Makes the tables where there are none, and brings those of an older version up to date: all of it or nothing. No
 * other process may dial from the ledger.
 *
 * @throws {LedgerException} `newer`; `damaged`
 */
export const prepareTables = (sql: Sql): void => {
  requireWhole(sql);
  sql.transaction(() => {
    const written = isThere(sql) ? versionOf(sql) : 0;
    if (written === version) return;
    for (const statement of steps.slice(written).flat()) sql.all(statement);
    setFact(sql, "version", version);
  });
};

/** What holds in every ledger that is whole; each finds a row that breaks it. */
const violations = [
  `select 1 from outdial_contact where attempts > 0 and not exists (
     select 1 from outdial_attempt
     where outdial_attempt.contact = outdial_contact.contact and attempt = attempts)`,
  `select 1 from outdial_attempt left join outdial_contact using (contact)
   where attempts is null or attempt > attempts`,
  `select 1 from (select state, count(*) as n from outdial_contact group by state)
   left join outdial_tally using (state) where contacts is not n`,
];

/**
 * Checks a file that its last process didn't close: it may be a copy that was made while it was written.
 *
 * @throws {LedgerException} `damaged`
 */
const requireWhole = (sql: Sql): void => {
  if (!sql.isFile || !isThere(sql) || factOf(sql, "open") !== 1) return;
  const [{ integrity_check } = {}] = sql.all("pragma integrity_check(1)");
  const isWhole =
    integrity_check === "ok" &&
    violations.every((violation) => sql.all(`${violation} limit 1`).length === 0);
  if (!isWhole) throw new LedgerException("damaged");
  // The check doesn't count the entries of a partial index. An older version has fewer of them.
  for (const { name } of sql.all(
    "select name from sqlite_master where type = 'index' and sql like '% where %'",
  )) {
    sql.all(`reindex "${name}"`);
  }
};

/** Marks a file as closed: everything that was written is in it. */
export const markClosed = (sql: Sql): void => {
  if (sql.isFile) sql.transaction(() => setFact(sql, "open", 0));
};

/** One thing that happened to a contact, or to the campaign. */
export interface AuditEntry {
  /** Milliseconds since 1970. */
  readonly at: number;
  /** The contact's number in the ledger; `undefined` when it is about the campaign. */
  readonly contact?: number | undefined;
  /** From 1. */
  readonly attempt?: number | undefined;
  /**
   * `claimed`, `released`, `maybe`, `placed`, a disposition, `waiting` (for the next attempt),
   * `call_back` (asked for), `ended` and `not_ended` (by the caller), `blocked`, `unblocked`, `erased`; of the campaign: `opened`, `paused`, `resumed`, `canceled`.
   */
  readonly event: string;
  /** Why, without key and numbers. */
  readonly detail?: string | undefined;
}

/** Adds an entry to the audit log, which is for people: nothing decides by it. */
export const audit = (sql: Sql, { at, contact, attempt, event, detail }: AuditEntry): void => {
  sql.all(
    "insert into outdial_audit (at, contact, attempt, event, detail) values (?, ?, ?, ?, ?)",
    at,
    contact ?? null,
    attempt ?? null,
    event,
    detail ?? null,
  );
};

const auditPage = 500;

/** The rows of the audit log in order, read a page at a time: it may grow meanwhile. */
export function* auditRows(sql: Sql): Generator<Row, void> {
  for (let last = 0; ; ) {
    const rows = sql.all(
      `select entry, at, contact, attempt, event, detail from outdial_audit
       where entry > ? order by entry limit ${auditPage}`,
      last,
    );
    yield* rows;
    if (rows.length < auditPage) return;
    last = Number(rows.at(-1)?.entry);
  }
}

/** The entry in a row of the audit log, also in one that has come as JSON. */
export const auditEntryOf = ({
  at,
  contact,
  attempt,
  event,
  detail,
}: Readonly<Record<string, unknown>>): AuditEntry => ({
  at: Number(at),
  ...(contact !== null && { contact: Number(contact) }),
  ...(attempt !== null && { attempt: Number(attempt) }),
  event: String(event),
  ...(detail !== null && { detail: String(detail) }),
});

/** The audit log in order. */
export function* readAudit(sql: Sql): Generator<AuditEntry, void> {
  for (const row of auditRows(sql)) yield auditEntryOf(row);
}

/** A contact as the ledger has it. */
export interface ContactRow {
  readonly contact: number;
  /** The telephone, in the spelling by which it is known; of an erased contact a `#` and its number in the ledger. */
  readonly to_number: string;
  /** E.164, as the list has it: that is called. */
  readonly written: string;
  readonly id: string | undefined;
  readonly timezone: string;
  /** JSON. */
  readonly variables: string | undefined;
  readonly listed: boolean;
  readonly state: State;
  /** How the last attempt ended; `undefined` before the first end. */
  readonly outcome: Disposition | undefined;
  /** Why, for people. */
  readonly reason: string | undefined;
  readonly attempts: number;
  readonly deferrals: number;
  readonly due: number;
  /** When the contact is to be called by the attempt `call_for`, in milliseconds since 1970. */
  readonly call_at: number | undefined;
  /** 0 when no time was asked for. */
  readonly call_for: number;
  /** How many attempts were added by call-backs. */
  readonly call_backs: number;
  /** Who calls, from the first attempt on, or as the list has it. */
  readonly from_number: string | undefined;
  /** Of the last attempt, if it is known. */
  readonly call_id: string | undefined;
}

export const textIn = (value: Value | undefined): string | undefined =>
  typeof value === "string" ? value : undefined;

export const numberIn = (value: Value | undefined): number | undefined =>
  typeof value === "number" ? value : undefined;

/**
 * A state that is stored.
 *
 * @throws {LedgerException} `unknown_state`
 */
export const stateIn = (value: Value | undefined): State => {
  const state = String(value);
  if (isState(state)) return state;
  throw new LedgerException("unknown_state");
};

/** How an attempt has ended, as it is stored. */
export const outcomeIn = (value: Value | undefined): Disposition | undefined => {
  if (value === null || value === undefined) return;
  const state = stateIn(value);
  if (isDisposition(state)) return state;
  throw new LedgerException("unknown_state");
};

/** Whom a row is about, and how far the calls have come: the fields that each reading of a contact needs. */
export const contactFieldsIn = (
  row: Row,
): Pick<
  ContactRow,
  "contact" | "to_number" | "written" | "timezone" | "attempts" | "due" | "from_number"
> => ({
  contact: Number(row.contact),
  to_number: String(row.to_number),
  written: String(row.written ?? row.to_number),
  timezone: String(row.timezone),
  attempts: Number(row.attempts),
  due: Number(row.due),
  from_number: textIn(row.from_number),
});

export const contactIn = (row: Row): ContactRow => ({
  ...contactFieldsIn(row),
  id: textIn(row.id),
  variables: textIn(row.variables),
  listed: row.listed === 1,
  state: stateIn(row.state),
  outcome: outcomeIn(row.outcome),
  reason: textIn(row.reason),
  deferrals: Number(row.deferrals),
  call_at: numberIn(row.call_at),
  call_for: Number(row.call_for),
  call_backs: Number(row.call_backs),
  call_id: textIn(row.call_id),
});

export const contactOf = (sql: Sql, contact: number): ContactRow | undefined => {
  const [row] = sql.all("select * from outdial_contact where contact = ?", contact);
  return row && contactIn(row);
};

/** Whether the contact's data was deleted: nobody can be called by the row. */
export const isErased = ({ to_number }: Pick<ContactRow, "to_number">): boolean =>
  to_number.startsWith("#");

/** The same of a contact in the ledger, which isn't read for it. */
export const isErasedIn = (sql: Sql, contact: number): boolean =>
  sql.all("select 1 from outdial_contact where contact = ? and to_number glob '#*'", contact)
    .length > 0;

/** Whether the next attempt of a contact is one that it asked for, or that the list has a time for. */
export const isAsked = ({
  call_for,
  attempts,
}: Pick<ContactRow, "call_for" | "attempts">): boolean => call_for > attempts;

/** What a change of state brings. */
interface Change {
  readonly at: number;
  /** Why, in the service's words or ours. */
  readonly reason?: string | undefined;
  /** Milliseconds until one that waits may be called. */
  readonly wait?: number | undefined;
}

/**
 * Changes the state of a contact, and audits it. One that was erased or is no longer in the list waits
 * for nothing: it ends instead.
 */
export const move = (
  sql: Sql,
  row: ContactRow,
  state: Exclude<State, "calling" | "unclear">,
  { at, reason, wait = 0 }: Change,
): void => {
  const { contact, attempts, call_at = 0 } = row;
  // Who was called before waits for a time, which comes before the first turn of others.
  const turn = wait > 0 || attempts > 0 ? at + wait : 0;
  if (state === "waiting" && isErased(row)) {
    move(sql, row, "blocked", { at, reason: "erased" });
    return;
  }
  if (state === "waiting" && !row.listed) {
    end(sql, row, "canceled", { at, reason });
    return;
  }
  sql.all(
    "update outdial_contact set state = ?, reason = ?, due = ?, wait = ? where contact = ?",
    state,
    reason ?? null,
    isAsked(row) ? Math.max(turn, call_at) : turn,
    wait,
    contact,
  );
  audit(sql, { at, contact, attempt: attempts || undefined, event: state, detail: reason });
};

/**
 * Ends a contact that waits: as its last attempt did, or as `uncalled` if there was none.
 *
 * @throws {LedgerException} `unknown_state`
 */
export const end = (
  sql: Sql,
  row: ContactRow,
  uncalled: Disposition,
  { at, reason }: Change,
): void => {
  if (row.attempts === 0) {
    move(sql, row, uncalled, { at, reason });
    return;
  }
  // Who waits for another attempt has the outcome of the last one.
  if (!row.outcome) throw new LedgerException("unknown_state");
  move(sql, row, row.outcome, { at, reason: row.reason });
};

/** How many waiting contacts are ended in one transaction. */
const endPage = 1_000;

/**
 * Ends a page of the contacts that wait.
 *
 * @returns whether some are left
 */
export const endWaiting = (sql: Sql, uncalled: Disposition, at: number): boolean => {
  const rows = sql.all(`select * from outdial_contact where state = 'waiting' limit ${endPage}`);
  for (const row of rows) end(sql, contactIn(row), uncalled, { at });
  return rows.length === endPage;
};
