import { LedgerException } from "../ledger-exception.ts";
import type { Sql } from "../sql/sql.ts";

/** What this version reads and writes. */
const version = 1;

/**
 * A contact is a row, and its telephone is there once. A claim is a row of `attempt`; what it is keyed
 * by is why there can't be a second one. What may be dialled next and what has to settle next are
 * found by an index of nothing else, so that neither costs more in a long list. The tally is kept by
 * the database itself, whoever writes.
 */
const tables = [
  "create table outdial_fact (name text primary key, value) without rowid",
  `create table outdial_contact (
    contact integer primary key,
    to_number text not null unique,
    id text,
    timezone text not null,
    variables text,
    line integer not null,
    added integer not null,
    state text not null,
    reason text,
    attempts integer not null default 0,
    deferrals integer not null default 0,
    due integer not null default 0,
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

const isThere = (sql: Sql): boolean =>
  sql.all("select 1 from sqlite_master where type = 'table' and name = 'outdial_fact'").length > 0;

/** @throws {LedgerException} `not_a_ledger` or `newer` */
export const requireTables = (sql: Sql): void => {
  if (!isThere(sql)) throw new LedgerException("not_a_ledger");
  const [{ value } = {}] = sql.all("select value from outdial_fact where name = 'version'");
  if (Number(value) > version) throw new LedgerException("newer");
};

/**
 * Makes the tables where there are none.
 *
 * @throws {LedgerException} `newer`
 */
export const prepareTables = (sql: Sql): void =>
  sql.transaction(() => {
    if (isThere(sql)) return requireTables(sql);
    for (const table of tables) sql.all(table);
    sql.all("insert into outdial_fact values ('version', ?)", version);
  });
