import { type Disposition, isDisposition } from "../disposition.ts";
import type { Sql } from "../sql/sql.ts";
import { isErased, textIn } from "./contact.ts";

/** What became of a contact. */
export interface Result {
  /** The contact's number in the ledger, as in the signed URLs. */
  readonly contact: number;
  /** E.164; empty when the contact was erased. */
  readonly to_number: string;
  /** Your own name for it. */
  readonly id?: string | undefined;
  /** Absent while the contact waits or is being called. */
  readonly disposition?: Disposition | undefined;
  /**
   * Why, in the words of the notification (without numbers, 200 characters at most), or of the answer to
   * the request; while it waits or is called again, why the attempt before failed.
   */
  readonly reason?: string | undefined;
  /** POSTs that placed a call, or may have. */
  readonly attempts: number;
  /** Of the last attempt. */
  readonly call_id?: string | undefined;
}

/** Few: what is kept for long makes the heap grow. */
const page = 100;

/** A result for each contact, in the order of the list; read a page at a time. */
export function* readResults(sql: Sql): Generator<Result, void> {
  for (let last = 0; ; ) {
    const rows = sql.all(
      `select contact, to_number, id, state, reason, attempts, call_id from outdial_contact
       where contact > ? order by contact limit ${page}`,
      last,
    );
    for (const row of rows) {
      const to_number = String(row.to_number);
      const state = String(row.state);
      last = Number(row.contact);
      yield {
        contact: last,
        to_number: isErased({ to_number }) ? "" : to_number,
        id: textIn(row.id),
        disposition: isDisposition(state) ? state : undefined,
        reason: textIn(row.reason),
        attempts: Number(row.attempts),
        call_id: textIn(row.call_id),
      };
    }
    if (rows.length < page) return;
  }
}
