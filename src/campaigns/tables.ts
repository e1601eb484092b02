import { type Disposition, isDisposition, isState, type State } from "./disposition.ts";
import { LedgerException } from "./errors.ts";
import { type Step, steps } from "./migrations.ts";
import type { Param, Row, Sql, Value } from "./sqlite.ts";

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

/** Takes a step, unless the ledger has the column that it adds. */
const take = (sql: Sql, step: Step): void => {
  if (typeof step === "string") {
    sql.all(step);
    return;
  }
  const { table, column, type } = step;
  const [{ sql: made } = {}] = sql.all("select sql from sqlite_master where name = ?", table);
  if (new RegExp(`\\b${column}\\b`).test(String(made))) return;
  sql.all(`alter table ${table} add column ${column} ${type}`);
};

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
    for (const step of steps.slice(written).flat()) take(sql, step);
    setFact(sql, "version", version);
  });
};

/** What holds in every ledger that is whole; each finds a row that breaks it. */
const violationsOf = (written: number): readonly string[] => [
  `select 1 from outdial_contact where attempts > 0 and not exists (
     select 1 from outdial_attempt
     where outdial_attempt.contact = outdial_contact.contact and attempt = attempts)`,
  // Before version 7 a claim that was released was deleted.
  `select 1 from outdial_attempt left join outdial_contact using (contact)
   where attempts is null or (attempt > attempts${written >= 7 ? " and post is not 'no'" : ""})`,
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
    violationsOf(versionOf(sql)).every((violation) => sql.all(`${violation} limit 1`).length === 0);
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
   * `claimed`, `released`, `maybe`, `placed`, `polled` (its end was read), a disposition, `waiting` (for the next attempt),
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
const outcomeIn = (value: Value | undefined): Disposition | undefined => {
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
