import { BadParametersException, isException } from "../errors.ts";
import { type Attempt, stateOf } from "./attempt-facts.ts";
import {
  end,
  type FollowSettings,
  mostDeferrals,
  move,
  recordNews,
  writeAllUnclear,
  writeOpen,
} from "./contact-state.ts";
import { type End, retryReasons } from "./disposition.ts";
import { countDeferral, countRefusal, deferralsNow, resetFaults } from "./faults.ts";
import { ruleOf } from "./next-step.ts";
import type { CampaignSettings } from "./options.ts";
import { setStateOfCampaign, tallyOf } from "./progress.ts";
import { type DialedService, leastWait, type Services, waitAfter } from "./services.ts";
import type { Sql } from "./sqlite.ts";
import { audit, type ContactRow, contactOf, isErased, isErasedIn } from "./tables.ts";

/** How long after its claim a call may ring, in milliseconds. */
const ringLimit = 30_000;

/** How long after that the service is asked what became of a call, in milliseconds. */
const pollAfter = 60_000;

/** Until when an attempt holds its slot of which the service is asked: until its end is known. */
const polled = 8.64e15;

/** Records that an attempt has a call, and its id; of an erased contact without the id. */
export const recordPlaced = (
  sql: Sql,
  { contact, attempt }: Attempt,
  call_id: string | null,
  at: number,
  { get, settleTimeout }: Pick<CampaignSettings, "get" | "settleTimeout">,
): void => {
  const id = isErasedIn(sql, contact) ? null : call_id;
  sql.all(
    `update outdial_attempt
     set state = 'placed', post = 'placed', poll_at = coalesce(?, poll_at), settle_by = coalesce(?, settle_by)
     where contact = ? and attempt = ? and state <> 'settled'`,
    get && id !== null ? at + Math.min(ringLimit + pollAfter, settleTimeout) : null,
    get && id !== null ? polled : null,
    contact,
    attempt,
  );
  audit(sql, { at, contact, attempt, event: "placed", detail: id ?? undefined });
  sql.all(
    "update outdial_contact set call_id = ? where contact = ? and attempts = ?",
    id,
    contact,
    attempt,
  );
  writeOpen(sql, contact, "calling");
};

/** The contacts that may have been called become `unclear`: claims without an answer, when no POST is under way. */
export const markUnclear = (sql: Sql): void =>
  sql.transaction(() => {
    sql.all("update outdial_attempt set post = 'lost' where state = 'claimed' and post is null");
    writeAllUnclear(sql);
  });

/**
 * Takes a claim back, because nothing was sent, or the service answered that it placed nothing. Not
 * after a notification of the call: that is believed.
 *
 * @param call_id - that of the attempt before
 * @returns the contact as it was before the claim
 */
const release = (
  sql: Sql,
  { contact, attempt }: Attempt,
  at: number,
  detail: string,
  call_id: string | undefined,
): ContactRow | undefined => {
  const row = contactOf(sql, contact);
  const isClaimed = stateOf(sql, { contact, attempt }) === "claimed";
  if (!isClaimed || row?.state !== "calling" || row.attempts !== attempt) return;
  // It is kept: a call that is notified of after all is this one, and of a ledger that has it.
  sql.all(
    `update outdial_attempt set state = 'settled', post = 'no', detail = ?
     where contact = ? and attempt = ?`,
    detail,
    contact,
    attempt,
  );
  sql.all(
    "update outdial_contact set attempts = ?, call_id = ? where contact = ?",
    attempt - 1,
    isErased(row) ? null : (call_id ?? null),
    contact,
  );
  audit(sql, { at, contact, attempt, event: "released", detail });
  return { ...row, attempts: attempt - 1 };
};

/** What `create` returned or threw means for the contact. */
export type Answer =
  /** The call was placed. */
  | { readonly type: "placed"; readonly call_id: string }
  /** The call may have been placed: only a notification can settle it. */
  | { readonly type: "maybe"; readonly detail: string }
  /** Nothing was sent: the contact waits again. */
  | { readonly type: "unsent"; readonly detail: string }
  /** No call was placed: the contact waits, for `retryAfter` seconds if the service asked for that. */
  | { readonly type: "later"; readonly detail: string; readonly retryAfter?: number | undefined }
  /** No call was placed, and none would be for any contact: the service pauses. */
  | { readonly type: "paused"; readonly detail: string }
  /** No call was placed, and the service will place none for this contact. */
  | { readonly type: "refused"; readonly detail: string };

/** Statuses that are about the service: it would refuse every contact. */
const pausing: ReadonlySet<number> = new Set([307, 308, 401, 402, 403, 404, 405, 410]);

const tooManyRequests = 429;

/** The longest `Retry-After` that is honoured, in seconds. */
const longestRetryAfter = 86_400;

const retryAfterOf = (seconds: number | undefined): number | undefined =>
  seconds !== undefined && seconds >= 0 ? Math.min(seconds, longestRetryAfter) : undefined;

/** The answer when `create` returned something: a call without an id may have been placed. */
export const answerOf = (call: unknown): Answer => {
  const id = typeof call === "object" && call !== null && "id" in call ? call.id : undefined;
  if (typeof id === "string" && id) return { type: "placed", call_id: id };
  return { type: "maybe", detail: "create returned no id" };
};

/** Whether `create` threw because the time was over before it had sent anything. */
export const isUnsent = (error: unknown): boolean =>
  isException(error) && error.name === "TimeoutException" && error.placed === "no";

/** The answer when `create` threw something. Whatever isn't certain is `maybe`. */
export const answerOfError = (error: unknown): Answer => {
  try {
    if (!isException(error)) return { type: "maybe", detail: "create threw an error of its own" };
    const { placed, code, message: detail, retryAfter } = error;
    if (placed !== "no") return { type: "maybe", detail };
    if (code === tooManyRequests) {
      return { type: "later", detail, retryAfter: retryAfterOf(retryAfter) };
    }
    if (error instanceof BadParametersException) return { type: "paused", detail };
    // Without a status no request has arrived: the service, or the function that gives the key, is down.
    if (code === undefined) return { type: "later", detail };
    return { type: pausing.has(code) ? "paused" : "refused", detail };
  } catch {
    return { type: "maybe", detail: "create threw an error that can't be read" };
  }
};

/** Why a contact waits: how its last attempt ended, or why there was none yet. */
const waitingReason = ({ attempts, reason }: ContactRow, detail: string): string | undefined =>
  attempts > 0 ? reason : detail;

/**
 * Whether contacts that the service has asked to wait come after all others: it may be about them alone. After 20 answers
 * in a row it is about everybody, and no further contact is put off.
 */
export const letsOthersPass = (sql: Sql): boolean => {
  const inRow = deferralsNow(sql);
  return inRow > 0 && inRow < mostDeferrals;
};

/** Puts a contact off. After 20 times it ends, unless the service answers nobody: then the campaign pauses. */
const defer = (
  sql: Sql,
  row: ContactRow,
  at: number,
  detail: string,
  retryAfter: number | undefined,
  services: Services,
): void => {
  const deferrals = row.deferrals + 1;
  const inRow = countDeferral(sql);
  const isLast = deferrals >= mostDeferrals;
  // Nobody was called since it was put off first; the only one that waits ends all the same.
  const isAlone = (tallyOf(sql).waiting ?? 0) === 0;
  const isOutage = isLast && (isAlone ? inRow > mostDeferrals : inRow >= mostDeferrals);
  sql.all(
    "update outdial_contact set deferrals = ? where contact = ?",
    isOutage ? 0 : deferrals,
    row.contact,
  );
  const reason = waitingReason(row, detail);
  if (isLast && !isOutage) {
    end(sql, row, "expired", { at, reason: detail });
    return;
  }
  // Where there are others, the service rests, and not the contact.
  const own = services.isOne ? waitAfter(row.deferrals, retryAfter) : leastWait;
  const wait = isOutage ? 0 : own;
  move(sql, row, "waiting", { at, reason, wait });
  if (isOutage) {
    setStateOfCampaign(sql, "paused", { at, event: "paused", reason: detail });
  }
};

/** Ends a contact that a service refused, unless there is another one. */
const refuse = (
  sql: Sql,
  row: ContactRow,
  at: number,
  detail: string,
  { service, services }: Dialing,
): void => {
  const { contact, attempts } = row;
  const isLeft = services.noteRefusal(sql, contact, attempts + 1, service);
  if (isLeft) move(sql, row, "waiting", { at, reason: waitingReason(row, detail) });
  else move(sql, row, "refused", { at, reason: detail });
  const reason = countRefusal(sql, service.name, detail);
  if (reason !== undefined) services.pause(sql, service, at, reason);
};

/** The answer to the POST of an attempt. */
export interface Answered extends Attempt {
  readonly answer: Answer;
  /** The call of the attempt before. */
  readonly call_id: string | undefined;
  /** Who answered. */
  readonly service: DialedService;
}

/** Which service answered, of those of the campaign. */
interface Dialing {
  readonly service: DialedService;
  readonly services: Services;
}

/** @returns whether the claim still stands */
const recordAnswer = (
  sql: Sql,
  { contact, attempt, answer, call_id, service }: Answered,
  at: number,
  services: Services,
): boolean => {
  const key = { contact, attempt };
  const { settings } = service;
  const { notified } = settings;
  const endAs = (endedAs: End): void => {
    if (stateOf(sql, key) !== "settled") recordNews(sql, key, { endedAs }, at, settings);
  };
  // The service's words may name the person.
  const inLedger = (detail: string): string => (isErasedIn(sql, key.contact) ? "erased" : detail);
  switch (answer.type) {
    case "placed":
      recordPlaced(sql, key, answer.call_id, at, settings);
      if (!notified) endAs("placed");
      return true;
    case "maybe": {
      const detail = inLedger(answer.detail);
      audit(sql, { at, ...key, event: "maybe", detail });
      sql.all(
        `update outdial_attempt set detail = ?, post = case state when 'claimed' then 'maybe' else post end
         where contact = ? and attempt = ?`,
        detail,
        key.contact,
        key.attempt,
      );
      if (!notified) endAs("unknown");
      else if (stateOf(sql, key) === "claimed") writeOpen(sql, key.contact, "unclear");
      return true;
    }
    default: {
      const { type } = answer;
      const detail = inLedger(answer.detail);
      const row = release(sql, key, at, detail, call_id);
      if (row && type === "later") defer(sql, row, at, detail, answer.retryAfter, services);
      else if (row && type === "refused") refuse(sql, row, at, detail, { service, services });
      else if (row) move(sql, row, "waiting", { at, reason: waitingReason(row, detail) });
      if (type === "paused") services.pause(sql, service, at, detail);
      const state = stateOf(sql, key);
      return state !== undefined && state !== "released";
    }
  }
};

/**
 * Records the answers to POSTs, in the order in which they came. If one is lost in a crash, its claim stands alone and is
 * a `maybe`.
 *
 * @returns those whose claims no longer stand
 */
export const recordAnswers = <Given extends Answered>(
  sql: Sql,
  answers: readonly Given[],
  at: number,
  services: Services,
): readonly Given[] => {
  let reset: DialedService | undefined;
  return answers.filter((answered) => {
    const placedBy = answered.answer.type === "placed" ? answered.service : undefined;
    if (placedBy && placedBy !== reset) resetFaults(sql, placedBy.name);
    reset = placedBy;
    return !recordAnswer(sql, answered, at, services);
  });
};

/** How many attempts are given up in one transaction. */
const giveUpPage = 1_000;

/** When the next attempt is given up, in milliseconds since 1970; `Infinity` when none is open. */
export const nextToGiveUp = (sql: Sql): number => {
  const [{ at } = {}] = sql.all(
    "select min(settle_by) as at from outdial_attempt where state <> 'settled'",
  );
  return typeof at === "number" ? at : Number.POSITIVE_INFINITY;
};

/**
 * Frees the slots of a page of the attempts that no final notification came for. Their contacts are
 * `unknown`, and never called again by themselves; who was promised a call-back waits for it.
 */
export const giveUp = (sql: Sql, at: number, settings: FollowSettings): void => {
  const rows = sql.all(
    `select contact, attempt from outdial_attempt
     where state <> 'settled' and settle_by <= ? limit ${giveUpPage}`,
    at,
  );
  for (const row of rows) {
    const key = { contact: Number(row.contact), attempt: Number(row.attempt) };
    recordNews(sql, key, { endedAs: "unknown" }, at, settings);
  }
};

/** Brings forward the further attempts that wait for longer than the delay that holds now. */
export const adjustToDelay = (
  sql: Sql,
  at: number,
  settings: Pick<CampaignSettings, "retryOn" | "retryDelay" | "attempts">,
): void =>
  sql.transaction(() => {
    const { retryDelay } = settings;
    const delays = retryReasons.map((reason) => ruleOf(settings, reason)?.after ?? retryDelay);
    const delay = `(case outcome ${retryReasons.map((reason) => `when '${reason}' then ?`).join(" ")} else ? end)`;
    const all = [...delays, retryDelay];
    // Only those that wait since their last attempt: the service has asked the others to wait.
    sql.all(
      `update outdial_contact set due = due - wait + ${delay}, wait = ${delay}
       where state = 'waiting' and call_for <= attempts and due > ? and wait > ${delay} and exists (
         select 1 from outdial_attempt a
         where a.contact = outdial_contact.contact and attempt = attempts and ended = due - wait)`,
      ...[...all, ...all, at, ...all],
    );
  });

/**
 * Brings near what lies further ahead than it can by the clock as it is now: a clock that was set back
 * must hold nobody up.
 */
export const adjustToClock = (sql: Sql, at: number, settleTimeout: number): void =>
  sql.transaction(() => {
    sql.all(
      `update outdial_attempt set settle_by = ?
       where state <> 'settled' and settle_by > ? and poll_at is null`,
      at + settleTimeout,
      at + settleTimeout,
    );
    sql.all("update outdial_attempt set poll_at = ? where poll_at > ?", at, at + settleTimeout);
    sql.all(
      `update outdial_contact set due = ? + wait
       where state = 'waiting' and due > ? + wait and call_for <= attempts`,
      at,
      at,
    );
  });
