import { answererOf } from "./disposition.ts";
import { type End, type Facts, isEnd } from "./facts.ts";
import type { Row, Sql, Value } from "./sqlite.ts";
import { numberIn, textIn } from "./tables.ts";

/** The key of an attempt in its campaign: one POST at most. */
export interface Attempt {
  readonly contact: number;
  /** From 1. */
  readonly attempt: number;
}

/** What is known of an attempt, and what is expected of it. */
export interface KnownAttempt extends Facts {
  /** `claimed`: its POST brought no call yet; `placed`: it has a call; `settled`: nothing more is expected. */
  readonly state: "claimed" | "placed" | "settled";
}

const stateIn = (value: Value | undefined): KnownAttempt["state"] =>
  value === "claimed" || value === "placed" ? value : "settled";

const postIn = (value: Value | undefined): Facts["post"] =>
  value === "placed" || value === "maybe" || value === "no" ? value : undefined;

const endIn = (value: Value | undefined): End | undefined => (isEnd(value) ? value : undefined);

const attemptIn = (row: Row): KnownAttempt => ({
  state: stateIn(row.state),
  post: postIn(row.post),
  detail: textIn(row.detail),
  answered: numberIn(row.answered),
  answered_by: textIn(row.answered_by),
  person: row.person === 1,
  message: row.message === 1,
  failed: row.failed === 1,
  failure: textIn(row.failure),
  endedAs: endIn(row.ended_as),
  reason: textIn(row.end_reason),
  ended: numberIn(row.ended),
  duration: numberIn(row.duration),
});

/** What is known of the attempts of a contact, by their numbers; a claim that was released is one of them. */
export const attemptsOf = (sql: Sql, contact: number): ReadonlyMap<number, KnownAttempt> =>
  new Map(
    sql
      .all(
        `select attempt, state, post, detail, answered, answered_by, person, message, failed, failure, ended_as, end_reason,
           ended, duration
         from outdial_attempt where contact = ?`,
        contact,
      )
      .map((row) => [Number(row.attempt), attemptIn(row)]),
  );

/** Whether a claim stands, and how far its attempt is; `undefined` when there is none, or it was released. */
export const stateOf = (
  sql: Sql,
  { contact, attempt }: Attempt,
): KnownAttempt["state"] | undefined => {
  const [row] = sql.all(
    "select state, post from outdial_attempt where contact = ? and attempt = ?",
    contact,
    attempt,
  );
  return row && row.post !== "no" ? stateIn(row.state) : undefined;
};

/** Whether a claim was made and released. */
export const wasReleased = (sql: Sql, { contact, attempt }: Attempt): boolean =>
  sql.all(
    "select 1 from outdial_attempt where contact = ? and attempt = ? and post = 'no'",
    contact,
    attempt,
  ).length > 0;

/** Writes the facts of an attempt, and what indexes and figures need of them: nothing more is expected of one that has ended. */
export const writeFacts = (sql: Sql, { contact, attempt }: Attempt, facts: KnownAttempt): void => {
  const { answered, answered_by, person, message, failed, failure, endedAs, reason } = facts;
  const settled = endedAs === undefined ? "" : "state = 'settled', ask_at = null, ";
  sql.all(
    `update outdial_attempt set ${settled}answered = ?, answered_by = ?, person = ?, message = ?, failed = ?,
       failure = ?, ended_as = ?, end_reason = ?, ended = ?, duration = ?, answerer = ?
     where contact = ? and attempt = ?`,
    answered ?? null,
    answered_by ?? null,
    person ? 1 : 0,
    message ? 1 : 0,
    failed ? 1 : 0,
    failure ?? null,
    endedAs ?? null,
    reason ?? null,
    facts.ended ?? null,
    facts.duration ?? null,
    answererOf(facts) ?? null,
    contact,
    attempt,
  );
};
