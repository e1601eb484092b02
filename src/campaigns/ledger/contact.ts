import { type Disposition, dispositionOf, type State } from "../disposition.ts";
import type { Row, Sql } from "../sql/sql.ts";
import { audit } from "./audit.ts";

/** A contact as the ledger has it. */
export interface ContactRow {
  readonly contact: number;
  /** E.164; of an erased one a `#` and its number in the ledger. */
  readonly to_number: string;
  readonly id: string | undefined;
  readonly timezone: string;
  /** JSON. */
  readonly variables: string | undefined;
  readonly state: string;
  readonly reason: string | undefined;
  readonly attempts: number;
  readonly deferrals: number;
  readonly due: number;
  readonly call_id: string | undefined;
}

/** A text, if there is one. */
export const textIn = (value: Row[string] | undefined): string | undefined =>
  typeof value === "string" ? value : undefined;

export const contactIn = (row: Row): ContactRow => ({
  contact: Number(row.contact),
  to_number: String(row.to_number),
  id: textIn(row.id),
  timezone: String(row.timezone),
  variables: textIn(row.variables),
  state: String(row.state),
  reason: textIn(row.reason),
  attempts: Number(row.attempts),
  deferrals: Number(row.deferrals),
  due: Number(row.due),
  call_id: textIn(row.call_id),
});

export const contactOf = (sql: Sql, contact: number): ContactRow | undefined => {
  const [row] = sql.all("select * from outdial_contact where contact = ?", contact);
  return row && contactIn(row);
};

/** Whether nothing of a person is left in the row, and nobody can be called by it. */
export const isErased = ({ to_number }: Pick<ContactRow, "to_number">): boolean =>
  to_number.startsWith("#");

/** What a change of state says beside the state. */
interface Change {
  readonly at: number;
  /** Why, in the service's word or ours. */
  readonly reason?: string | undefined;
  /** The first moment at which one that waits may be called. */
  readonly due?: number | undefined;
}

/**
 * Brings a contact into a state, and writes that down. One that was erased meanwhile waits for nothing:
 * there is no number to call.
 */
export const move = (
  sql: Sql,
  row: ContactRow,
  state: Exclude<State, "calling">,
  { at, reason, due = 0 }: Change,
): void => {
  const { contact, attempts } = row;
  if (state === "waiting" && isErased(row)) {
    move(sql, row, "skipped", { at, reason: "erased" });
    return;
  }
  sql.all(
    "update outdial_contact set state = ?, reason = ?, due = ? where contact = ?",
    state,
    reason ?? null,
    due,
    contact,
  );
  const attempt = attempts || undefined;
  audit(sql, { at, contact, attempt, event: state, detail: reason });
};

/** How many waiting contacts are ended in one go. */
const page = 1_000;

/**
 * Ends a contact that waits: as what became of its last attempt, if there was one; otherwise as one that
 * wasn't called.
 */
export const endAs = (sql: Sql, row: ContactRow, uncalled: Disposition, at: number): void =>
  row.attempts > 0
    ? move(sql, row, dispositionOf("call.failed", row.reason), { at, reason: row.reason })
    : move(sql, row, uncalled, { at });

/**
 * Ends contacts that wait, a page of them.
 *
 * @returns whether some are left
 */
export const endWaiting = (sql: Sql, uncalled: Disposition, at: number): boolean =>
  sql.transaction(() => {
    const rows = sql.all(`select * from outdial_contact where state = 'waiting' limit ${page}`);
    for (const row of rows) endAs(sql, contactIn(row), uncalled, at);
    return rows.length === page;
  });
