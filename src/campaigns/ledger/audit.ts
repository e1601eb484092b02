import type { Sql } from "../sql/sql.ts";

/** One thing that happened to a contact, or to the campaign. */
export interface AuditEntry {
  /** Milliseconds since 1970. */
  readonly at: number;
  /** The contact's number in the ledger; `undefined` when it is the campaign's. */
  readonly contact?: number | undefined;
  /** From 1. */
  readonly attempt?: number | undefined;
  /**
   * `claimed`, `released`, `maybe`, `placed`, a disposition, `waiting` (for the next attempt),
   * `blocked`, `erased`; of the campaign: `opened`, `paused`, `resumed`, `canceled`.
   */
  readonly event: string;
  /** Why, without key and numbers. */
  readonly detail?: string | undefined;
}

/** Writes down what happens, in the transaction in which it does. */
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

const page = 500;

/** Everything that happened, in order; read a page at a time, so that it may go on meanwhile. */
export function* readAudit(sql: Sql): Generator<AuditEntry, void> {
  for (let last = 0; ; ) {
    const rows = sql.all(
      `select entry, at, contact, attempt, event, detail from outdial_audit
       where entry > ? order by entry limit ${page}`,
      last,
    );
    for (const { entry, at, contact, attempt, event, detail } of rows) {
      last = Number(entry);
      yield {
        at: Number(at),
        ...(contact !== null && { contact: Number(contact) }),
        ...(attempt !== null && { attempt: Number(attempt) }),
        event: String(event),
        ...(detail !== null && { detail: String(detail) }),
      };
    }
    if (rows.length < page) return;
  }
}
