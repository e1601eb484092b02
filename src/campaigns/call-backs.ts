import { is } from "valibot";
import { CallParams } from "../calls/params.ts";
import { fail } from "../lib/check.ts";
import { attemptsOf } from "./attempt-facts.ts";
import { instantOf } from "./calling-hours.ts";
import { move } from "./contact-state.ts";
import { isDisposition, mayCallBack } from "./disposition.ts";
import { isBlocked, telephoneOf } from "./do-not-call.ts";
import { hasCallBack } from "./next-step.ts";
import type { ListSettings } from "./options.ts";
import { isOverAt } from "./progress.ts";
import type { Sql } from "./sqlite.ts";
import { audit, type ContactRow, contactIn, isErased } from "./tables.ts";

/** The zone of the windows, where they have one. */
const zoneOfWindows = ({ window }: Pick<ListSettings, "window">): string => {
  if (window === "always") return "";
  const zones = new Set([window].flat().map(({ timezone }) => timezone));
  return zones.size === 1 ? String([...zones][0]) : "";
};

const texts = 'ISO 8601 such as "2026-06-03T15:00:00Z", or local time such as "2026-06-03 15:00"';

/** Local time, or with an offset from UTC. */
const shape = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d)(?::(\d\d)(\.\d{1,9})?)?\s?(Z|[+-]\d\d:?\d\d)?$/i;

/** The last time that is taken: what is later is a mistake, such as microseconds. */
const last = Date.UTC(2200, 0);

const offsetOf = (offset: string): string =>
  /^z$/i.test(offset) ? "Z" : offset.replace(/^(...)(\d\d)$/, "$1:$2");

/** The instant of a text; `NaN` when it is none. */
const instantIn = (text: string, timezone: string): number => {
  const [, date = "", time = "", seconds = "00", fraction = "", offset] =
    shape.exec(text.trim()) ?? [];
  if (!date) return Number.NaN;
  const local = `${date}T${time}:${seconds}${fraction && `${fraction}00`.slice(0, 4)}`;
  const utc = Date.parse(`${local}Z`);
  // A date such as 31 February is another day.
  const isDay = !Number.isNaN(utc) && new Date(utc).toISOString().startsWith(`${date}T${time}`);
  if (!isDay) return Number.NaN;
  if (offset) return Date.parse(`${local}${offsetOf(offset)}`);
  return timezone ? instantOf(utc, timezone) : Number.NaN;
};

/**
 * The instant at which somebody wants to be called, in milliseconds since 1970. Local time that occurs twice is the
 * first of both; one that is skipped is as long after the change of the clock as it is after its start.
 *
 * @param timezone - the contact's; empty for that of the windows
 * @throws {BadParametersException} when it is no time, or a local one without a zone
 */
export const callTimeOf = (
  given: unknown,
  timezone: string,
  settings: Pick<ListSettings, "window">,
  param: string,
): number => {
  const zone = timezone || zoneOfWindows(settings);
  const at =
    given instanceof Date
      ? given.getTime()
      : typeof given === "string"
        ? instantIn(given, zone)
        : Number.NaN;
  if (at > 0 && at < last) return Math.floor(at);
  const isLocal = typeof given === "string" && !zone && !Number.isNaN(instantIn(given, "UTC"));
  if (isLocal) return fail(param, "is local time, and needs a timezone");
  // Whoever writes a list can't write a Date.
  return fail(param, `must be ${typeof given === "string" ? "" : "a Date, or "}${texts}`);
};

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
