import type { Sql } from "../../sql/sql.ts";
import { audit } from "../audit.ts";
import { type ContactRow, contactOf, isErased } from "../contact.ts";

/** The key of an attempt in its campaign: a telephone, and which attempt it is. */
export interface Attempt {
  readonly contact: number;
  /** From 1. */
  readonly attempt: number;
}

/**
 * Claims an attempt, if nobody ever has. A claim without an outcome means that a telephone may have
 * rung, from this moment on and whatever happens to the process. Only `release` takes it back.
 *
 * @param settleBy - until when the call that may follow holds its slot
 * @returns whether the POST is this caller's to make
 */
export const claim = (
  sql: Sql,
  { contact, attempts }: ContactRow,
  at: number,
  settleBy: number,
): boolean => {
  const attempt = attempts + 1;
  const [claimed] = sql.all(
    `insert into outdial_attempt values (?, ?, 'claimed', ?, ?, null)
     on conflict do nothing returning attempt`,
    contact,
    attempt,
    at,
    settleBy,
  );
  if (!claimed) return false;
  sql.all(
    "update outdial_contact set state = 'calling', attempts = ? where contact = ?",
    attempt,
    contact,
  );
  audit(sql, { at, contact, attempt, event: "claimed" });
  return true;
};

/** What has become of a claim: `undefined` when there is none. */
export const stateOf = (
  sql: Sql,
  { contact, attempt }: Attempt,
): "claimed" | "placed" | "settled" | undefined => {
  const [row] = sql.all(
    "select state from outdial_attempt where contact = ? and attempt = ?",
    contact,
    attempt,
  );
  if (!row) return;
  return row.state === "claimed" || row.state === "placed" ? row.state : "settled";
};

export const setState = (
  sql: Sql,
  { contact, attempt }: Attempt,
  state: "placed" | "settled",
): void => {
  sql.all(
    "update outdial_attempt set state = ? where contact = ? and attempt = ?",
    state,
    contact,
    attempt,
  );
};

/** Writes down why nobody knows what became of an attempt. */
export const noteDoubt = (
  sql: Sql,
  { contact, attempt }: Attempt,
  detail: string,
  at: number,
): void => {
  audit(sql, { at, contact, attempt, event: "maybe", detail });
  sql.all(
    "update outdial_attempt set detail = ? where contact = ? and attempt = ?",
    detail,
    contact,
    attempt,
  );
};

/** Writes down that an attempt has a call, and which; of somebody who was erased only that. */
export const notePlaced = (
  sql: Sql,
  { contact, attempt }: Attempt,
  call_id: string | null,
  at: number,
): void => {
  const row = contactOf(sql, contact);
  const detail = row && isErased(row) ? null : call_id;
  audit(sql, { at, contact, attempt, event: "placed", detail: detail ?? undefined });
  sql.all(
    "update outdial_contact set call_id = ? where contact = ? and attempts = ?",
    detail,
    contact,
    attempt,
  );
};

/**
 * Takes a claim back, because nothing was sent, or the service said that it placed nothing. Not when a notification has
 * told of a call meanwhile: then it is believed.
 *
 * @returns the contact as it was before the claim
 */
export const release = (
  sql: Sql,
  { contact, attempt }: Attempt,
  at: number,
  detail: string,
): ContactRow | undefined => {
  const claimed = stateOf(sql, { contact, attempt }) === "claimed";
  const row = contactOf(sql, contact);
  if (!claimed || row?.state !== "calling" || row.attempts !== attempt) return;
  sql.all("delete from outdial_attempt where contact = ? and attempt = ?", contact, attempt);
  sql.all("update outdial_contact set attempts = ? where contact = ?", attempt - 1, contact);
  audit(sql, { at, contact, attempt, event: "released", detail });
  return { ...row, attempts: attempt - 1 };
};
