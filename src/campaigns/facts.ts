import { type End, type Facts, isMachine, machineByAgent, type News } from "./disposition.ts";

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

export const isEnd = (text: unknown): text is End => ends.some((each) => each === text);

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
