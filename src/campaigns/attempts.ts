import { BadParametersException, isException } from "../errors.ts";
import { retryReasons } from "./disposition.ts";
import type { CampaignSettings } from "./options.ts";
import { setStateOfCampaign, tallyOf } from "./progress.ts";
import { ruleOf } from "./retries.ts";
import type { Sql } from "./sqlite.ts";
import {
  audit,
  type ContactRow,
  contactOf,
  end,
  factOf,
  isErased,
  isErasedIn,
  move,
  setFact,
  textIn,
} from "./tables.ts";

/** The key of an attempt in its campaign: one POST at most. */
export interface Attempt {
  readonly contact: number;
  /** From 1. */
  readonly attempt: number;
}

/** The state of an attempt: `undefined` when there is no claim. */
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

/** Nothing more is expected of an attempt. */
export const settle = (
  sql: Sql,
  { contact, attempt }: Attempt,
  ended: number | null,
  duration: number | null,
): void => {
  sql.all(
    `update outdial_attempt set state = 'settled', ended = ?, duration = ?, ask_at = null
     where contact = ? and attempt = ?`,
    ended,
    duration,
    contact,
    attempt,
  );
};

/** How many answers in a row asked to wait; a placed call resets it. */
const deferralsInRow = "deferrals_in_row";

/** How many answers in a row refused their contact; a placed call resets it. */
const refusalsInRow = "refusals_in_row";

/** How many answered calls in a row had a flow that failed; a completed call resets it. */
const flowErrorsInRow = "flow_errors_in_row";

/** How long after its claim a call may ring, in milliseconds. */
const ringLimit = 30_000;

/** How long after that the service is asked what became of a call, in milliseconds. */
const askAfter = 60_000;

/** Until when an attempt holds its slot of which the service is asked: until its end is known. */
const asked = 8.64e15;

/** A call was placed: the service works. */
export const resetFaults = (sql: Sql): void => {
  sql.all(
    "update outdial_fact set value = 0 where name in (?, ?) and value > 0",
    deferralsInRow,
    refusalsInRow,
  );
};

/** Records that an attempt has a call, and its id; of an erased contact without the id. */
export const recordPlaced = (
  sql: Sql,
  { contact, attempt }: Attempt,
  call_id: string | null,
  at: number,
  { get, settleTimeout }: Pick<CampaignSettings, "get" | "settleTimeout">,
): void => {
  const [odd] = sql.all(
    `select to_number glob '#*' as erased, state = 'unclear' and attempts = ? as unclear
     from outdial_contact where contact = ? and (state = 'unclear' or to_number glob '#*')`,
    attempt,
    contact,
  );
  const id = odd?.erased === 1 ? null : call_id;
  sql.all(
    `update outdial_attempt set state = 'placed', ask_at = ?, settle_by = coalesce(?, settle_by)
     where contact = ? and attempt = ? and state = 'claimed'`,
    get && id !== null ? at + Math.min(ringLimit + askAfter, settleTimeout) : null,
    get && id !== null ? asked : null,
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
  // Apart, as a change of the state costs its indexes and the tally.
  const toCalling = "update outdial_contact set state = 'calling' where contact = ?";
  if (odd?.unclear === 1) sql.all(toCalling, contact);
};

/** The contacts that may have been called become `unclear`: claims without an answer, when no POST is under way. */
export const markUnclear = (sql: Sql): void =>
  sql.transaction(() => {
    sql.all(
      `update outdial_contact set state = 'unclear' where state = 'calling' and contact in (
         select contact from outdial_attempt where state <> 'settled' and state = 'claimed')`,
    );
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
  sql.all("delete from outdial_attempt where contact = ? and attempt = ?", contact, attempt);
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
  /** No call was placed, and none would be for any contact: the campaign pauses. */
  | { readonly type: "paused"; readonly detail: string }
  /** No call was placed, and none will be for this contact. */
  | { readonly type: "refused"; readonly detail: string };

/** Statuses that are about the campaign: every contact would be refused. */
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

/** How many answers that ask to wait a contact gets. */
const mostDeferrals = 20;

/** The longest wait that grows by itself, in seconds. */
const longestWait = 60;

/** Ends a contact of which no notification will come. */
const endUnnotified = (
  sql: Sql,
  key: Attempt,
  at: number,
  state: "placed" | "unknown",
  reason?: string,
): void => {
  const row = contactOf(sql, key.contact);
  if (row?.state !== "calling") return;
  settle(sql, key, null, null);
  move(sql, row, state, { at, reason });
};

/** Why a contact waits: how its last attempt ended, or why there was none yet. */
const waitingReason = ({ attempts, reason }: ContactRow, detail: string): string | undefined =>
  attempts > 0 ? reason : detail;

/** Milliseconds between two tries of a contact, at least: a service may ask for none. */
const leastWait = 1_000;

/**
 * Whether contacts that the service has asked to wait come after all others: it may be about them alone. After 20 answers
 * in a row it is about everybody, and no further contact is put off.
 */
export const letsOthersPass = (sql: Sql): boolean => {
  const inRow = Number(factOf(sql, deferralsInRow));
  return inRow > 0 && inRow < mostDeferrals;
};

/** Puts a contact off. After 20 times it ends, unless the service answers nobody: then the campaign pauses. */
const putOff = (
  sql: Sql,
  row: ContactRow,
  at: number,
  detail: string,
  retryAfter: number | undefined,
): void => {
  const deferrals = row.deferrals + 1;
  const inRow = Number(factOf(sql, deferralsInRow)) + 1;
  const isLast = deferrals >= mostDeferrals;
  // Nobody was called since it was put off first; the only one that waits ends all the same.
  const isAlone = (tallyOf(sql).waiting ?? 0) === 0;
  const isOutage = isLast && (isAlone ? inRow > mostDeferrals : inRow >= mostDeferrals);
  setFact(sql, deferralsInRow, inRow);
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
  const seconds = retryAfter ?? Math.min(longestWait, 2 ** row.deferrals);
  const wait = isOutage ? 0 : Math.max(leastWait, Math.ceil(seconds * 1000));
  move(sql, row, "waiting", { at, reason, wait });
  if (isOutage) {
    setStateOfCampaign(sql, "paused", { at, event: "paused", reason: detail });
  }
};

/** How many contacts in a row may end by the same fault. */
const mostInRow = 20;

/** Counts a fault. After 20 in a row it is the campaign's, such as a wrong sender or secret: it pauses. */
const countFault = (sql: Sql, inRow: string, at: number, reason: string): void => {
  const count = Number(factOf(sql, inRow) ?? 0) + 1;
  const isLast = count >= mostInRow;
  setFact(sql, inRow, isLast ? 0 : count);
  if (isLast) setStateOfCampaign(sql, "paused", { at, event: "paused", reason });
};

/** Ends a contact that the service refused. */
const refuse = (sql: Sql, row: ContactRow, at: number, detail: string): void => {
  move(sql, row, "refused", { at, reason: detail });
  countFault(sql, refusalsInRow, at, `${mostInRow} contacts in a row were refused: ${detail}`);
};

/** Counts an answered call whose flow failed, or resets the count after one whose flow did not. */
export const countFlow = (
  sql: Sql,
  disposition: "completed" | "machine" | "message_left" | "flow_error",
  at: number,
  detail: string | undefined,
): void => {
  if (disposition === "flow_error") {
    const why = detail ? `: ${detail}` : "";
    countFault(sql, flowErrorsInRow, at, `the flow of ${mostInRow} calls in a row failed${why}`);
  } else if (factOf(sql, flowErrorsInRow)) setFact(sql, flowErrorsInRow, 0);
};

/** The answer to the POST of an attempt. */
export interface Answered extends Attempt {
  readonly answer: Answer;
  /** The call of the attempt before. */
  readonly call_id: string | undefined;
}

type AnswerSettings = Pick<CampaignSettings, "notified" | "get" | "settleTimeout">;

/** @returns whether the claim still stands */
const recordAnswer = (
  sql: Sql,
  { contact, attempt, answer, call_id }: Answered,
  at: number,
  settings: AnswerSettings,
): boolean => {
  const key = { contact, attempt };
  const { notified } = settings;
  // The service's words may name the person.
  const inLedger = (detail: string): string => (isErasedIn(sql, key.contact) ? "erased" : detail);
  switch (answer.type) {
    case "placed":
      recordPlaced(sql, key, answer.call_id, at, settings);
      if (!notified) endUnnotified(sql, key, at, "placed");
      return true;
    case "maybe": {
      const detail = inLedger(answer.detail);
      audit(sql, { at, ...key, event: "maybe", detail });
      sql.all(
        "update outdial_attempt set detail = ? where contact = ? and attempt = ?",
        detail,
        key.contact,
        key.attempt,
      );
      if (!notified) endUnnotified(sql, key, at, "unknown", detail);
      else if (stateOf(sql, key) === "claimed") {
        sql.all(
          "update outdial_contact set state = 'unclear' where contact = ? and state = 'calling'",
          key.contact,
        );
      }
      return true;
    }
    default: {
      const { type } = answer;
      const detail = inLedger(answer.detail);
      const row = release(sql, key, at, detail, call_id);
      if (row && type === "later") putOff(sql, row, at, detail, answer.retryAfter);
      else if (row && type === "refused") refuse(sql, row, at, detail);
      else if (row) move(sql, row, "waiting", { at, reason: waitingReason(row, detail) });
      if (type === "paused") {
        setStateOfCampaign(sql, "paused", { at, event: "paused", reason: detail });
      }
      return !!stateOf(sql, key);
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
  settings: AnswerSettings,
): readonly Given[] => {
  let isReset = false;
  return answers.filter((answered) => {
    const isPlaced = answered.answer.type === "placed";
    if (isPlaced && !isReset) resetFaults(sql);
    isReset = isPlaced;
    return !recordAnswer(sql, answered, at, settings);
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
 * `unknown`, and never called again by themselves.
 */
export const giveUp = (sql: Sql, at: number): void => {
  const rows = sql.all(
    `select contact, attempt, detail from outdial_attempt
     where state <> 'settled' and settle_by <= ? limit ${giveUpPage}`,
    at,
  );
  for (const row of rows) {
    const key = { contact: Number(row.contact), attempt: Number(row.attempt) };
    const contact = contactOf(sql, key.contact);
    settle(sql, key, null, null);
    if (contact) move(sql, contact, "unknown", { at, reason: textIn(row.detail) });
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
       where state <> 'settled' and settle_by > ? and ask_at is null`,
      at + settleTimeout,
      at + settleTimeout,
    );
    sql.all("update outdial_attempt set ask_at = ? where ask_at > ?", at, at + settleTimeout);
    sql.all(
      `update outdial_contact set due = ? + wait
       where state = 'waiting' and due > ? + wait and call_for <= attempts`,
      at,
      at,
    );
  });
