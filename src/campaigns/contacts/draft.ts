import { BadParametersException } from "../../errors.ts";
import { type ContactRow, contactIn, endAs, move } from "../ledger/contact.ts";
import type { Row, Sql } from "../sql/sql.ts";
import { type ContactRules, read, tell } from "./add.ts";
import type { Contact, RefusedContact } from "./contact.ts";

/** What a list would change in a ledger. */
export interface Survey {
  /** Contacts of the list, each telephone once. */
  readonly listed: number;
  /** Who isn't in the ledger yet, and may be called. */
  readonly fresh: number;
  /** Who isn't in it yet, and is on the do-not-call list. */
  readonly blocked: number;
  /** Who waits in it, and is on the do-not-call list that came with the list. */
  readonly barred: number;
  /** Who was left out of a list before, and is in this one. */
  readonly back: number;
  /** Who waits in it, was never called, and has another id, zone or variables now. */
  readonly changed: number;
  /** Who waits in it, and is no longer in the list. */
  readonly gone: number;
}

/** How many rows are in memory at once. */
const page = 1_000;

/** Why those end who are no longer in the list. */
const leftOut = "no longer in the list";

const tables = `
  create temp table draft (
    entry integer primary key, to_number text not null unique, id text, timezone text not null,
    variables text, line integer not null
  );
  create temp table draft_blocked (to_number text primary key) without rowid;`;

const isListed = "to_number in (select to_number from draft)";
const isBarred = "to_number in (select to_number from draft_blocked)";
const isKnown = "to_number in (select to_number from outdial_contact)";
const isBlocked = `(to_number in (select to_number from outdial_blocked) or ${isBarred})`;
const wasLeftOut = `state = 'canceled' and reason = '${leftOut}'`;
/** Of a contact and its row of the draft. */
const differs = `state = 'waiting' and attempts = 0 and exists (
  select 1 from draft where draft.to_number = outdial_contact.to_number
    and (draft.id is not outdial_contact.id or draft.timezone <> outdial_contact.timezone
      or draft.variables is not outdial_contact.variables))`;

/**
 * A list that is looked at before anything of it is kept: what it would change can be told, and
 * forgotten. It lies in tables of the connection, which are gone with that.
 */
export class Draft {
  readonly #sql: Sql;
  readonly #refused: RefusedContact[] = [];
  #twice = 0;

  constructor(sql: Sql) {
    this.#sql = sql;
    for (const table of tables.split(";").filter((each) => each.trim())) sql.all(table);
  }

  /** Each row that can't be taken, and why. */
  get refused(): readonly RefusedContact[] {
    return this.#refused;
  }

  /** How many rows have the telephone of one before. */
  get twice(): number {
    return this.#twice;
  }

  /** Is told of a row that can't even be read. */
  readonly refuse = (row: RefusedContact): void => {
    this.#refused.push(row);
  };

  /** Takes a list. Of two rows with one telephone the first counts. */
  async take(contacts: AsyncIterable<Contact>, settings: ContactRules): Promise<void> {
    for await (const contact of contacts) {
      const { line = 0 } = contact;
      try {
        const { to_number, id, timezone, variables } = read(contact, line, settings);
        const isFirst = this.#sql.all(
          `insert into draft (to_number, id, timezone, variables, line) values (?, ?, ?, ?, ?)
           on conflict do nothing returning 1 as one`,
          to_number,
          id,
          timezone,
          variables,
          line,
        ).length;
        if (!isFirst) this.#twice++;
      } catch (error) {
        if (!(error instanceof BadParametersException)) throw error;
        this.refuse({ line, reason: error.issues.map(tell).join("; ") });
      }
    }
  }

  /** Takes numbers that must not be called. */
  bar(numbers: Iterable<string>): void {
    for (const number of numbers) {
      this.#sql.all("insert into draft_blocked values (?) on conflict do nothing", number);
    }
  }

  /** What it would change. */
  survey(): Survey {
    const count = (table: string, where: string): number =>
      Number(this.#sql.all(`select count(*) as n from ${table} where ${where}`)[0]?.n);
    const waits = "state = 'waiting'";
    return {
      listed: count("draft", "true"),
      fresh: count("draft", `not ${isKnown} and not ${isBlocked}`),
      blocked: count("draft", `not ${isKnown} and ${isBlocked}`),
      barred: count("outdial_contact", `${waits} and ${isListed} and ${isBarred}`),
      back: count("outdial_contact", `${wasLeftOut} and ${isListed} and not ${isBlocked}`),
      changed: count("outdial_contact", differs),
      gone: count("outdial_contact", `${waits} and not ${isListed}`),
    };
  }

  /**
   * Changes the contacts of the ledger by it. Who is no longer in it ends, as `canceled` or as what
   * became of the last attempt. Who was never called waits again, once in it again, and has id, zone
   * and variables of now.
   */
  revise(at: number): void {
    const sql = this.#sql;
    const each = (where: string, change: (row: ContactRow) => void): void => {
      let rows: readonly Row[];
      do {
        rows = sql.all(`select * from outdial_contact where ${where} limit ${page}`);
        for (const row of rows) change(contactIn(row));
      } while (rows.length === page);
    };
    const leave = (row: ContactRow): void =>
      row.attempts > 0
        ? endAs(sql, row, "canceled", at)
        : move(sql, row, "canceled", { at, reason: leftOut });
    sql.transaction(() => {
      each(`state = 'waiting' and not ${isListed}`, leave);
      each(`${wasLeftOut} and ${isListed} and not ${isBlocked}`, (row) =>
        move(sql, row, "waiting", { at }),
      );
      sql.all(
        `update outdial_contact set (id, timezone, variables) = (
           select id, timezone, variables from draft
           where draft.to_number = outdial_contact.to_number)
         where ${differs}`,
      );
      sql.all(
        "insert into outdial_zone select distinct timezone from draft where true on conflict do nothing",
      );
    });
  }

  /** Who isn't in the ledger yet, in the order of the list. */
  *fresh(): Generator<Contact, void> {
    let last = 0;
    for (;;) {
      const rows = this.#sql.all(
        `select * from draft where entry > ? and not ${isKnown} order by entry limit ${page}`,
        last,
      );
      for (const { entry, to_number, id, timezone, variables, line } of rows) {
        last = Number(entry);
        yield {
          to_number: String(to_number),
          ...(id && { id: String(id) }),
          ...(timezone && { timezone: String(timezone) }),
          ...(variables && { variables: JSON.parse(String(variables)) }),
          line: Number(line),
        };
      }
      if (rows.length === 0) return;
    }
  }
}
