import type { CampaignSettings } from "../../settings.ts";
import type { Sql } from "../../sql/sql.ts";
import { setStateOfCampaign } from "../campaign/progress.ts";
import { contactOf, endAs, move } from "../contact.ts";
import { type Attempt, noteDoubt, notePlaced, release, setState, stateOf } from "./claim.ts";

/** What the answer to a POST means for its contact. */
export type Meaning =
  /** It is being called. */
  | { readonly means: "placed"; readonly call_id: string }
  /** It may be called: only a notification can tell. */
  | { readonly means: "maybe"; readonly detail: string }
  /** Nothing was sent, and that is nobody's fault: its turn comes again. */
  | { readonly means: "unsent"; readonly detail: string }
  /** It is not called, and its turn comes again. */
  | { readonly means: "later"; readonly detail: string; readonly retryAfter?: number | undefined }
  /** It is not called, and nobody would be: the campaign is at fault. */
  | { readonly means: "paused"; readonly detail: string }
  /** It is not called, and never will be. */
  | { readonly means: "refused"; readonly detail: string };

/** How often a contact is put off before somebody must look at it. */
const mostDeferrals = 20;

/** The longest wait that grows by itself, in seconds. */
export const longestWait = 60;

type Write = (sql: Sql, attempt: Attempt, at: number, settings: CampaignSettings) => void;

const placed =
  (call_id: string): Write =>
  (sql, { contact, attempt }, at, { notified }) => {
    if (stateOf(sql, { contact, attempt }) === "claimed")
      setState(sql, { contact, attempt }, "placed");
    notePlaced(sql, { contact, attempt }, call_id, at);
    const row = contactOf(sql, contact);
    if (!notified && row?.state === "calling") end(sql, { contact, attempt }, at, "placed");
  };

/** Ends the contact of an attempt, on which nothing will be heard. */
const end = (sql: Sql, key: Attempt, at: number, state: "placed" | "unknown", reason?: string) => {
  const row = contactOf(sql, key.contact);
  setState(sql, key, "settled");
  if (row) move(sql, row, state, { at, reason });
};

const maybe =
  (detail: string): Write =>
  (sql, { contact, attempt }, at, { notified }) => {
    noteDoubt(sql, { contact, attempt }, detail, at);
    const row = contactOf(sql, contact);
    if (!notified && row?.state === "calling") {
      end(sql, { contact, attempt }, at, "unknown", detail);
    }
  };

const later =
  (detail: string, retryAfter?: number): Write =>
  (sql, attempt, at) => {
    const row = release(sql, attempt, at, detail);
    if (!row) return;
    const deferrals = row.deferrals + 1;
    sql.all(
      "update outdial_contact set deferrals = ? where contact = ?",
      deferrals,
      attempt.contact,
    );
    const wait = retryAfter ?? Math.min(longestWait, 2 ** row.deferrals);
    const { reason } = row;
    if (deferrals < mostDeferrals) {
      return move(sql, row, "waiting", { at, reason, due: at + wait * 1000 });
    }
    if (!isOutage(sql, attempt.contact)) return endAs(sql, row, "expired", at);
    sql.all("update outdial_contact set deferrals = 0 where contact = ?", attempt.contact);
    move(sql, row, "waiting", { at, reason });
    setStateOfCampaign(sql, "paused", { at, event: "paused", reason: detail });
  };

/** Whether others were put off too while a contact was, and nobody was called: then none of them is at fault. */
const isOutage = (sql: Sql, contact: number): boolean => {
  const others = sql.all(
    `select distinct event from outdial_audit
     where contact != ? and event in ('placed', 'released') and entry > (
       select entry from outdial_audit where contact = ? and event = 'released'
       order by entry desc limit 1 offset ${mostDeferrals - 1}
     )`,
    contact,
    contact,
  );
  return others.length === 1 && others[0]?.event === "released";
};

const unsent =
  (detail: string): Write =>
  (sql, attempt, at) => {
    const row = release(sql, attempt, at, detail);
    if (row) move(sql, row, "waiting", { at, reason: row.reason });
  };

const paused =
  (detail: string): Write =>
  (sql, attempt, at) => {
    const row = release(sql, attempt, at, detail);
    if (row) move(sql, row, "waiting", { at, reason: row.reason });
    setStateOfCampaign(sql, "paused", { at, event: "paused", reason: detail });
  };

const refused =
  (detail: string): Write =>
  (sql, attempt, at) => {
    const row = release(sql, attempt, at, detail);
    if (row) move(sql, row, "refused", { at, reason: detail });
  };

const recordOf = (meaning: Meaning): Write => {
  switch (meaning.means) {
    case "placed":
      return placed(meaning.call_id);
    case "maybe":
      return maybe(meaning.detail);
    case "unsent":
      return unsent(meaning.detail);
    case "later":
      return later(meaning.detail, meaning.retryAfter);
    case "paused":
      return paused(meaning.detail);
    case "refused":
      return refused(meaning.detail);
  }
};

/**
 * Writes down what the answer to a POST means, and gives whether the claim still stands. It needs no sync of its own. When a power cut takes it
 * back, the claim stands alone: a `maybe`, which a notification settles or which ends as `unknown`. So does
 * a claim whose release is gone: its contact isn't called, though it might be. And a claim that is made after
 * a release is synced, with all that came before it.
 *
 * @param isLast - whether no other POST is under way: then nothing may follow that syncs it
 */
export const recordOutcome = (
  sql: Sql,
  attempt: Attempt,
  meaning: Meaning,
  at: number,
  settings: CampaignSettings,
  isLast: boolean,
): boolean => {
  const write = (): boolean => {
    recordOf(meaning)(sql, attempt, at, settings);
    return !!stateOf(sql, attempt);
  };
  return isLast ? sql.transaction(write) : sql.relaxed(write);
};
