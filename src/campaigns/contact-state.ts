import { type Attempt, attemptsOf, isSame, merge, writeFacts } from "./attempt-facts.ts";
import { type Disposition, isAnswer, isClosed, type News, type State } from "./disposition.ts";
import { LedgerException } from "./errors.ts";
import { countFlow } from "./faults.ts";
import {
  type AttemptFacts,
  type Conditions,
  hasCallBack,
  type NextStep,
  nextStepOf,
  type Retries,
  reasonOf,
} from "./next-step.ts";
import type { CampaignSettings } from "./options.ts";
import { isOverAt } from "./progress.ts";
import type { Sql } from "./sqlite.ts";
import { audit, type ContactRow, contactIn, contactOf, isErased } from "./tables.ts";

/** How many answers that ask to wait a contact gets. */
export const mostDeferrals = 20;

/** A change of state. */
interface Change {
  readonly at: number;
  /** Why, in the service's words or ours. */
  readonly reason?: string | undefined;
}

/** What is stored of the state of a contact, beside the facts of its attempts, for indexes and the tally. */
interface Stored extends Change {
  readonly state: State;
  readonly outcome: Disposition | undefined;
  readonly due: number;
  readonly wait: number;
}

/** Writes the state of a contact, and audits it. */
const write = (
  sql: Sql,
  row: ContactRow,
  { at, state, outcome, reason, due, wait }: Stored,
): void => {
  const { contact, attempts } = row;
  sql.all(
    "update outdial_contact set state = ?, outcome = ?, reason = ?, due = ?, wait = ? where contact = ?",
    state,
    outcome ?? null,
    reason ?? null,
    due,
    wait,
    contact,
  );
  audit(sql, { at, contact, attempt: attempts || undefined, event: state, detail: reason });
  // Nobody is called any more; of who was never called the time is that of the list.
  const isWanted = state === "waiting" || state === "call_back_missed" || attempts === 0;
  if (isWanted || !hasCallBack(row)) return;
  const promise = "update outdial_contact set call_at = null, call_for = 0 where contact = ?";
  sql.all(promise, contact);
};

/** Writes the state of contacts whose attempts were claimed: in one statement, as each pays for the tally's trigger. */
export const writeClaimed = (
  sql: Sql,
  claimed: readonly Pick<ContactRow, "contact" | "from_number">[],
): void => {
  const senders = claimed.map(({ contact, from_number = null }) => [contact, from_number]);
  // The id of the attempt before is none of this one's.
  sql.all(
    `update outdial_contact set state = 'calling', attempts = attempts + 1, from_number = w.value, call_id = null
     from json_each(?) w where contact = cast(w.key as integer)`,
    JSON.stringify(Object.fromEntries(senders)),
  );
};

/** Writes that a contact is called after all whose call was refused: why it was is void. */
export const writeReclaimed = (sql: Sql, contact: number): void => {
  sql.all("update outdial_contact set reason = outcome where contact = ?", contact);
};

/** Writes whether the call of an open attempt is live, as far as is known. */
export const writeOpen = (sql: Sql, contact: number, state: "calling" | "unclear"): void => {
  sql.all(
    `update outdial_contact set state = ?
     where contact = ? and state in ('calling', 'unclear') and state <> ?`,
    state,
    contact,
    state,
  );
};

/** Writes that the calls of all contacts may or may not be live whose POSTs have brought nothing. */
export const writeAllUnclear = (sql: Sql): void => {
  sql.all(
    `update outdial_contact set state = 'unclear' where state = 'calling' and contact in (
       select contact from outdial_attempt where state <> 'settled' and state = 'claimed')`,
  );
};

/**
 * Has a contact wait, or be refused or blocked. One that was erased or is no longer in the list waits for nothing: it
 * ends instead.
 */
export const move = (
  sql: Sql,
  row: ContactRow,
  state: "waiting" | "refused" | "blocked",
  { at, reason, wait = 0 }: Change & { readonly wait?: number | undefined },
): void => {
  const { attempts, outcome, call_at = 0 } = row;
  if (state === "waiting" && (isErased(row) || !row.listed)) {
    const why = isErased(row) ? "erased" : reason;
    end(sql, row, isErased(row) ? "blocked" : "canceled", { at, reason: why });
    return;
  }
  // Retries come before first calls.
  const dueAt = wait > 0 || attempts > 0 ? at + wait : 0;
  const due = hasCallBack(row) ? Math.max(dueAt, call_at) : dueAt;
  write(sql, row, { at, state, outcome, reason, due, wait });
};

/**
 * How a contact ends that waits, and is not called any more: as `uncalled` if it was never called; else as its last attempt
 * did, unless it is blocked and nobody has answered, or was promised a call-back.
 *
 * @throws {LedgerException} `unknown_state`
 */
const uncalledAs = (row: ContactRow, uncalled: "expired" | "canceled" | "blocked"): Disposition => {
  const { attempts, outcome } = row;
  if (attempts === 0) return uncalled;
  // Who waits for another attempt has the outcome of the last one.
  if (!outcome) throw new LedgerException("unknown_state");
  if (uncalled === "blocked") return isAnswer(outcome) ? outcome : uncalled;
  return hasCallBack(row) ? "call_back_missed" : outcome;
};

/**
 * Ends a contact that waits, and is not called any more.
 *
 * @throws {LedgerException} `unknown_state`
 */
export const end = (
  sql: Sql,
  row: ContactRow,
  uncalled: "expired" | "canceled" | "blocked",
  { at, reason }: Change,
): void => {
  const { contact, attempts, outcome } = row;
  const state = uncalledAs(row, uncalled);
  const isOutcome = attempts > 0 && state === outcome;
  const last = isOutcome && !isErased(row) ? attemptsOf(sql, contact).get(attempts) : undefined;
  const why = isOutcome ? last && reasonOf(last, outcome) : reason;
  write(sql, row, { at, state, outcome, reason: why, due: at, wait: 0 });
};

/** How many waiting contacts are ended in one transaction. */
const endPage = 1_000;

/**
 * Ends a page of the contacts that wait.
 *
 * @returns whether some are left
 */
export const endWaiting = (sql: Sql, uncalled: "expired" | "canceled", at: number): boolean => {
  const rows = sql.all(`select * from outdial_contact where state = 'waiting' limit ${endPage}`);
  for (const row of rows) end(sql, contactIn(row), uncalled, { at });
  return rows.length === endPage;
};

/** The options that decide what follows on an attempt. */
export type FollowSettings = Retries & Pick<CampaignSettings, "until">;

const conditionsOf = (
  sql: Sql,
  row: ContactRow,
  at: number,
  { retryOn, retryDelay, attempts, until }: FollowSettings,
): Conditions => ({
  ...{ retryOn, retryDelay, attempts },
  // Read only once an attempt has ended.
  get isOpen() {
    const isListed = row.listed && !isErased(row) && row.deferrals < mostDeferrals;
    return isListed && !isOverAt(sql, at, { until });
  },
});

/** Whether an attempt that was claimed would follow now: what became known since of those before it may speak against it. */
export const stillFollows = (
  sql: Sql,
  { contact, attempt }: Attempt,
  at: number,
  settings: FollowSettings,
): boolean => {
  const row = contactOf(sql, contact);
  if (!row || attempt === 1) return true;
  const before = { ...row, attempts: attempt - 1 };
  const conditions = conditionsOf(sql, row, at, settings);
  return nextStepOf(before, attemptsOf(sql, contact), at, conditions).type === "attempt";
};

/** The state that stands for the next step of a contact. */
const storedOf = (
  row: ContactRow,
  facts: AttemptFacts,
  step: Exclude<NextStep, { type: "open" }>,
  at: number,
): Stored => {
  const { outcome } = step;
  const { attempts, state, reason, due } = row;
  // Nothing follows any more; but who was talked to was.
  const isKept = state === "call_back_missed" || !isAnswer(outcome);
  if (isClosed(state) && isKept) return { at, state, outcome, reason, due, wait: 0 };
  if (step.type === "attempt" && !isClosed(state)) {
    // The service may have asked to wait for longer.
    const isDeferred = state === "waiting" && facts.get(attempts + 1)?.post === "no";
    const next = isDeferred ? Math.max(due, step.due) : step.due;
    return { at, state: "waiting", outcome, reason: outcome, due: next, wait: step.wait };
  }
  const disposition = step.type === "done" && !isClosed(state) ? step.disposition : outcome;
  const last = facts.get(attempts);
  // The service's words may name the person.
  const why = last && !isErased(row) ? reasonOf(last, disposition) : undefined;
  return { at, state: disposition, outcome, reason: why, due: at, wait: 0 };
};

/**
 * Brings the state of a contact in line with the facts of its attempts.
 *
 * @returns the next step
 */
export const follow = (
  sql: Sql,
  row: ContactRow,
  facts: AttemptFacts,
  at: number,
  settings: FollowSettings,
): NextStep => {
  const step = nextStepOf(row, facts, at, conditionsOf(sql, row, at, settings));
  if (step.type === "open") {
    writeOpen(sql, row.contact, step.state);
    return step;
  }
  const next = storedOf(row, facts, step, at);
  const isSameEnd = next.state === row.state && next.outcome === row.outcome;
  if (isSameEnd && next.reason === row.reason) return step;
  write(sql, row, next);
  if (!isSameEnd) countFlow(sql, step.outcome, at, next.reason);
  return step;
};

/** Records what was learned of an attempt, and what follows from it; the same again changes nothing. */
export const recordNews = (
  sql: Sql,
  key: Attempt,
  news: News,
  at: number,
  settings: FollowSettings,
): void => {
  const row = contactOf(sql, key.contact);
  const facts = attemptsOf(sql, key.contact);
  const known = facts.get(key.attempt);
  if (!known) return;
  // The service's words may name the person.
  const own = row && isErased(row) ? { ...news, failure: undefined, reason: undefined } : news;
  const learned = { ...known, ...merge(known, own) };
  if (isSame(known, learned)) return;
  writeFacts(sql, key, learned);
  if (row) follow(sql, row, new Map(facts).set(key.attempt, learned), at, settings);
};
