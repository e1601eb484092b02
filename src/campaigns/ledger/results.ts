import { type Disposition, isDisposition } from "../disposition.ts";
import type { Sql } from "../sql/sql.ts";
import { contactIn, isErased } from "./contact.ts";

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
  /** Why, in the words of the notification, or of the answer to the request. */
  readonly reason?: string | undefined;
  /** POSTs that placed a call, or may have. */
  readonly attempts: number;
  /** Of the last attempt. */
  readonly call_id?: string | undefined;
}

const page = 500;

/** A result for each contact, in the order of the list; read a page at a time. */
export function* readResults(sql: Sql): Generator<Result, void> {
  for (let last = 0; ; ) {
    const rows = sql.all(
      `select * from outdial_contact where contact > ? order by contact limit ${page}`,
      last,
    );
    for (const row of rows) {
      const found = contactIn(row);
      const { contact, id, state, reason, attempts, call_id } = found;
      last = contact;
      yield {
        contact,
        to_number: isErased(found) ? "" : found.to_number,
        id,
        disposition: isDisposition(state) ? state : undefined,
        reason,
        attempts,
        call_id,
      };
    }
    if (rows.length < page) return;
  }
}
