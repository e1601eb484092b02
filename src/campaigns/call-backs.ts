import { is } from "valibot";
import { CallParams } from "../calls/params.ts";
import { fail } from "../lib/check.ts";
import { attemptsOf } from "./attempt-facts.ts";
import { callTimeOf } from "./call-times.ts";
import { move } from "./contact-state.ts";
import { isDisposition, mayCallBack } from "./disposition.ts";
import { isBlocked, telephoneOf } from "./do-not-call.ts";
import { hasCallBack } from "./next-step.ts";
import type { ListSettings } from "./options.ts";
import { isOverAt } from "./progress.ts";
import type { Sql } from "./sqlite.ts";
import { audit, type ContactRow, contactIn, isErased } from "./tables.ts";

/** Whether a contact may be called once more because it asked for that. */
const mayBeCalled = (sql: Sql, row: ContactRow): boolean => {
  const { contact, state, attempts, listed, to_number } = row;
  if (!listed || isErased(row) || isBlocked(sql, to_number)) return false;
  if (!isDisposition(state)) return true;
  // Only what the service has notified of has ended.
  return mayCallBack(state) && attemptsOf(sql, contact).get(attempts)?.ended !== undefined;
};

/** Takes down when a contact wants to be called, in a transaction of the caller's. */
const scheduleCallBack = (
  sql: Sql,
  row: ContactRow,
  call_at: number,
  at: number,
  { callBacks }: ListSettings,
): boolean => {
  const { contact, attempts, state, call_backs } = row;
  // A time that was agreed on is only moved, and nobody's first call is one more.
  const isMore = attempts > 0 && !hasCallBack(row);
  if (isMore && call_backs >= callBacks) return false;
  const call_for = attempts + 1;
  const asked = { ...row, call_at, call_for };
  sql.all(
    "update outdial_contact set call_at = ?, call_for = ?, call_backs = call_backs + ? where contact = ?",
    call_at,
    call_for,
    isMore ? 1 : 0,
    contact,
  );
  audit(sql, { at, contact, attempt: attempts || undefined, event: "call_back" });
  // Who is being called waits from the end of the call on.
  if (state !== "calling" && state !== "unclear") {
    move(sql, asked, "waiting", { at, reason: row.reason, wait: Math.max(0, call_at - at) });
  }
  return true;
};

/**
 * Calls a contact at the time that it asked for.
 *
 * @returns whether it will be called then
 * @throws {BadParametersException} when the number or the time breaks its rule
 */
export const callBack = (
  sql: Sql,
  to_number: string,
  given: unknown,
  settings: ListSettings,
): Promise<boolean> => {
  if (!is(CallParams.entries.to_number, to_number)) {
    fail("to_number", CallParams.entries.to_number.message);
  }
  const find = (): ContactRow | undefined => {
    const known = telephoneOf(to_number);
    const [row] = sql.all("select * from outdial_contact where to_number = ?", known);
    return row && contactIn(row);
  };
  const call_at = callTimeOf(given, find()?.timezone ?? "", settings, "at");
  return sql.commit(() => {
    const at = settings.clock();
    const row = find();
    const isOver = isOverAt(sql, Math.max(at, call_at), settings);
    if (!row || isOver || !mayBeCalled(sql, row)) return false;
    return scheduleCallBack(sql, row, call_at, at, settings);
  });
};
