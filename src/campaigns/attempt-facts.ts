import {
  answererOf,
  type End,
  type Facts,
  isMachine,
  machineByAgent,
  type News,
} from "./disposition.ts";
import type { Row, Sql, Value } from "./sqlite.ts";
import { numberIn, textIn } from "./tables.ts";

/** Of two ends the earlier one here stands, whichever came first: a completed call was answered, whatever denies it. */
const ends: readonly End[] = [
  "completed",
  "canceled",
  "rejected",
  "busy",
  "no_answer",
  "unreachable",
  "placed",
  "unknown",
];

const isEnd = (text: unknown): text is End => ends.some((each) => each === text);

/** An agent knows better than a carrier, a person is no machine, and a machine isn't made unknown. */
const rankOfAnswerer = (answered_by: string): number => {
  if (answered_by === machineByAgent) return 3;
  if (answered_by === "human") return 2;
  return isMachine(answered_by) ? 1 : 0;
};

/** The one of higher rank, and of two with the same rank the one that sorts first: in either order the same. */
const better = <T extends string>(
  known: T | undefined,
  news: T | undefined,
  rankOf: (text: T) => number,
): T | undefined => {
  if (known === undefined || news === undefined) return known ?? news;
  const ahead = rankOf(news) - rankOf(known);
  return ahead > 0 || (ahead === 0 && news < known) ? news : known;
};

const most = (known: number | undefined, news: number | undefined): number | undefined =>
  known === undefined || (news !== undefined && news > known) ? news : known;

/** Why a flow failed, where the service has no more to say than that it did. */
export const bareFailure = "flow_error";

/** The facts with what was learned: in any order, any number of times, the same. */
export const merge = (known: Facts, news: News): Facts => {
  const endedAs = better(known.endedAs, news.endedAs, (each) => -ends.indexOf(each));
  const reasonOf = (facts: News) => (facts.endedAs === endedAs ? facts.reason : undefined);
  return {
    ...known,
    answered: known.answered ?? news.answered,
    answered_by: better(known.answered_by, news.answered_by, rankOfAnswerer),
    person: known.person || !!news.person,
    message: known.message || !!news.message,
    failed: known.failed || !!news.failed,
    failure: better(known.failure, news.failure, (text) => (text === bareFailure ? 0 : 1)),
    endedAs,
    reason: better(reasonOf(known), reasonOf(news), () => 0),
    ended: known.ended ?? news.ended,
    duration: most(known.duration, news.duration),
  };
};

const names = [
  ...(["answered", "answered_by", "person", "message", "failed", "failure"] as const),
  ...(["endedAs", "reason", "ended", "duration"] as const),
];

/** Whether two facts are the same. */
export const isSame = (one: Facts, other: Facts): boolean =>
  names.every((name) => one[name] === other[name]);

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

const posts: readonly Facts["post"][] = ["placed", "maybe", "lost", "no"];

const postIn = (value: Value | undefined): Facts["post"] => posts.find((post) => post === value);

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

/** How far an attempt is: `released` when its claim was taken back, `undefined` when there is none. */
export const stateOf = (
  sql: Sql,
  { contact, attempt }: Attempt,
): KnownAttempt["state"] | "released" | undefined => {
  const [row] = sql.all(
    "select state, post from outdial_attempt where contact = ? and attempt = ?",
    contact,
    attempt,
  );
  return row && (row.post === "no" ? "released" : stateIn(row.state));
};

const facts = `answered = ?, answered_by = ?, person = ?, message = ?, failed = ?, failure = ?, ended_as = ?,
  end_reason = ?, ended = ?, duration = ?, answerer = ? where contact = ? and attempt = ?`;
const update = `update outdial_attempt set ${facts}`;
const settle = `update outdial_attempt set state = 'settled', poll_at = null, ${facts}`;

/** Writes the facts of an attempt, and what indexes and figures need of them: nothing more is expected of one that has ended. */
export const writeFacts = (sql: Sql, { contact, attempt }: Attempt, known: KnownAttempt): void => {
  const { answered, answered_by, person, message, failed, failure, endedAs, reason } = known;
  sql.all(
    endedAs === undefined ? update : settle,
    answered ?? null,
    answered_by ?? null,
    person ? 1 : 0,
    message ? 1 : 0,
    failed ? 1 : 0,
    failure ?? null,
    endedAs ?? null,
    reason ?? null,
    known.ended ?? null,
    known.duration ?? null,
    answererOf(known) ?? null,
    contact,
    attempt,
  );
};
