import type { Progress } from "../../ledger/campaign/progress.ts";
import type { Sql } from "../../sql/sql.ts";

/** How far a campaign had come at some time. */
export interface Sample extends Progress {
  /** Milliseconds since 1970. */
  readonly at: number;
}

/** Milliseconds between samples: a row each, which costs next to nothing beside the calls. */
const every = 5_000;

/** How many samples are told at most; they are further apart in a longer campaign. */
const most = 300;

export const prepareHistory = (sql: Sql): void => {
  sql.all(
    `create table if not exists outdial_sample
     (slot integer primary key, at integer not null, progress text not null) without rowid`,
  );
};

/** Keeps how far it has come, once in a few seconds, and its end. */
export const sample = (sql: Sql, progress: Progress, now: number): void => {
  const [{ slot } = {}] = sql.all("select max(slot) as slot from outdial_sample");
  if (slot === Math.floor(now / every) && !progress.done) return;
  sql.all(
    `insert into outdial_sample values (?, ?, ?)
     on conflict (slot) do update set at = excluded.at, progress = excluded.progress`,
    Math.floor(now / every),
    now,
    JSON.stringify(progress),
  );
};

/** How far it had come, in order of time. */
export const historyOf = (sql: Sql): readonly Sample[] => {
  const [{ first, last } = {}] = sql.all(
    "select min(at) as first, max(at) as last from outdial_sample",
  );
  const step = Math.max(every, Math.ceil((Number(last) - Number(first)) / most));
  return sql
    .all("select max(at) as at, progress from outdial_sample group by at / ? order by at", step)
    .map(({ at, progress }) => ({ ...JSON.parse(String(progress)), at: Number(at) }));
};

/** The samples of all shards as those of the whole campaign: each counts as it last was. */
export const merged = (
  histories: readonly (readonly Sample[])[],
  sum: (parts: readonly Progress[]) => Progress,
): readonly Sample[] => {
  const times = [...new Set(histories.flatMap((each) => each.map(({ at }) => at)))];
  const step = Math.ceil(times.length / most);
  return times
    .sort((one, other) => one - other)
    .filter((_, index) => (times.length - 1 - index) % step === 0)
    .map((at) => {
      const known = histories.flatMap((each) => each.findLast((one) => one.at <= at) ?? []);
      return { ...sum(known), at };
    });
};
