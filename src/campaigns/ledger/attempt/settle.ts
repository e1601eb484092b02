import type { Received } from "../../../callbacks/receive.ts";
import { telephone } from "../../../request/exception/redact.ts";
import { type Disposition, dispositionOf } from "../../disposition.ts";
import type { CampaignSettings } from "../../settings.ts";
import type { Sql } from "../../sql/sql.ts";
import { factOf } from "../campaign/facts.ts";
import { contactOf, isErased, move, textIn } from "../contact.ts";
import { type Attempt, claim, notePlaced, setState, stateOf } from "./claim.ts";
import { longestWait } from "./outcome.ts";

/** The attempt that a signed URL names, when it is one of this campaign. */
const attemptIn = (sql: Sql, { campaign, contact, attempt }: Received["context"]) =>
  campaign === factOf(sql, "id") && Number.isSafeInteger(contact) && Number.isSafeInteger(attempt)
    ? { contact: Number(contact), attempt: Number(attempt) }
    : undefined;

/** Whether another attempt follows on how this one ended. */
const isTriedAgain = (
  sql: Sql,
  disposition: Disposition,
  attempts: number,
  at: number,
  { attempts: most = 1, retryOn, until }: CampaignSettings,
): boolean =>
  retryOn.some((reason) => reason === disposition) &&
  attempts < most &&
  factOf(sql, "state") !== "canceled" &&
  at < (until?.getTime() ?? Number.POSITIVE_INFINITY);

/** Whether a call has ended, also where the service doesn't say which: the signed URL does. */
const isEnd = ({ type }: Received["event"]): boolean =>
  type === "call.completed" || type === "call.failed";

/** The longest reason that is kept: an explanation, no more. */
const longestReason = 200;

/** Why, in the service's words: on one line, and without anything that looks like a telephone number. */
const reasonIn = ({ data }: Received["event"]): string | undefined => {
  const { reason } = Object(data);
  if (typeof reason !== "string") return;
  return reason
    .slice(0, longestReason)
    .replace(/[\s\p{C}]+/gu, " ")
    .replace(telephone, "***")
    .trim();
};

/** A call has ended: so has its contact, unless another attempt follows. */
const settle = (
  sql: Sql,
  key: Attempt,
  type: string,
  reason: string | undefined,
  at: number,
  settings: CampaignSettings,
): void => {
  const contact = contactOf(sql, key.contact);
  setState(sql, key, "settled");
  if (!contact || contact.attempts !== key.attempt) return;
  const disposition = dispositionOf(type, reason);
  const again =
    !isErased(contact) && isTriedAgain(sql, disposition, contact.attempts, at, settings);
  const due = at + settings.retryAfter * 1000;
  if (again) move(sql, contact, "waiting", { at, reason: disposition, due });
  else move(sql, contact, disposition, { at, reason });
};

/**
 * Whether a notification says more than what is known of an attempt that has ended: nothing was, or
 * that it failed, and the call was completed. Who was talked to isn't called again.
 */
const isMended = (
  sql: Sql,
  { contact, attempt }: Attempt,
  { type }: Received["event"],
): boolean => {
  const row = contactOf(sql, contact);
  const waits = row?.state === "waiting" && row.attempts === attempt;
  return row?.state === "unknown" || (waits && type === "call.completed");
};

/**
 * A claim that the service had refused, and now tells of a call all the same: it is believed, so that
 * nobody is called twice.
 */
const reclaim = (sql: Sql, key: Attempt, at: number, settleBy: number): void => {
  const contact = contactOf(sql, key.contact);
  if (contact?.attempts === key.attempt - 1) claim(sql, contact, at, settleBy);
};

/**
 * Takes in a verified notification, in any order and any number of times.
 *
 * @returns whether it was about an attempt of this campaign
 */
export const noteReceived = (
  sql: Sql,
  { event, context }: Received,
  at: number,
  settings: CampaignSettings,
): boolean => {
  const key = attemptIn(sql, context);
  if (!key) return false;
  const known = stateOf(sql, key);
  // Of a call that is known to have been placed only its end says more.
  if (known && known !== "claimed" && !isEnd(event)) return true;
  const write = (): boolean => {
    if (!stateOf(sql, key)) reclaim(sql, key, at, at + settings.settle * 1000);
    const state = stateOf(sql, key);
    if (!state) return false;
    if (state === "claimed") {
      setState(sql, key, "placed");
      notePlaced(sql, key, event.call_id, at);
    }
    if (isEnd(event) && (state !== "settled" || isMended(sql, key, event)))
      settle(sql, key, event.type, reasonIn(event), at, settings);
    return true;
  };
  // An end is told once it was taken in, and never again; what makes a claim must last as any claim. Of
  // the rest a power cut only takes back what the end tells too.
  const mustLast = isEnd(event) || !known;
  return mustLast ? sql.transaction(write) : sql.relaxed(write);
};

/** How many calls are given up in one go. */
const page = 1_000;

/**
 * Frees the slots of the calls of which nothing was heard for too long, a page of them. Their contacts
 * are `unknown`: told as such, and never called again by themselves.
 */
export const giveUp = (sql: Sql, at: number): void => {
  const next = nextToGiveUp(sql);
  if (next > at) return;
  sql.transaction(() => {
    const rows = sql.all(
      `select contact, attempt, detail from outdial_attempt
       where state <> 'settled' and settle_by <= ? limit ${page}`,
      at,
    );
    for (const row of rows) {
      const key = { contact: Number(row.contact), attempt: Number(row.attempt) };
      const contact = contactOf(sql, key.contact);
      setState(sql, key, "settled");
      if (contact) move(sql, contact, "unknown", { at, reason: textIn(row.detail) });
    }
  });
};

/**
 * A clock that was set back must hold nobody up: what lies further ahead than it can, by the clock as
 * it is now, is brought near.
 */
export const followClock = (sql: Sql, at: number, { settle, retryAfter }: CampaignSettings): void =>
  sql.transaction(() => {
    const settleBy = at + settle * 1000;
    const due = at + Math.max(retryAfter, longestWait) * 1000;
    sql.all(
      "update outdial_attempt set settle_by = ? where state <> 'settled' and settle_by > ?",
      settleBy,
      settleBy,
    );
    sql.all("update outdial_contact set due = ? where state = 'waiting' and due > ?", due, due);
  });

/** When the next call has been silent for too long; `Infinity` when none is open. */
export const nextToGiveUp = (sql: Sql): number => {
  const [{ at } = {}] = sql.all(
    "select min(settle_by) as at from outdial_attempt where state <> 'settled'",
  );
  return typeof at === "number" ? at : Number.POSITIVE_INFINITY;
};
