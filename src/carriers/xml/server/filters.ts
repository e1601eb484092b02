import type { CallFacts } from "../../../server/history.ts";

/** How a carrier names the filters of a list, and refuses one. */
export interface ListRules {
  /** What follows the name of a time, where the calls before it and after it are wanted. */
  readonly before: readonly string[];
  readonly after: readonly string[];
  /** Throws the refusal of a filter. */
  readonly refuse: (field: string, rule: string) => never;
}

/** Whether a time is wanted, in milliseconds since 1970. */
type IsWanted = (time: number) => boolean;

/** The times by which calls are listed, by their names. */
const times = {
  StartTime: ({ answered_at, initiated_at }: CallFacts) => answered_at ?? initiated_at,
  EndTime: ({ ended_at }: CallFacts) => ended_at,
} as const;

/** The filters that are no time, and what selects a page. */
const others: ReadonlySet<string> = new Set([
  "To",
  "From",
  "Status",
  "Page",
  "PageSize",
  "PageToken",
]);

const day = 86_400_000;
const second = 1_000;

/** A filter of a time: a date in UTC, or a second. The limits belong to what they limit. */
const filterOf = (
  text: string,
  { before, after }: ListRules,
  suffix: string,
): IsWanted | undefined => {
  const isDate = /^\d{4}-\d\d-\d\d$/.test(text);
  const from =
    isDate || /^\d{4}-\d\d-\d\dT[\d:.]+(Z|[+-]\d\d:?\d\d)$/.test(text)
      ? Date.parse(text)
      : Number.NaN;
  if (Number.isNaN(from)) return;
  if (before.includes(suffix)) return (time) => time <= from;
  if (after.includes(suffix)) return (time) => time >= from;
  return (time) => time >= from && time < from + (isDate ? day : second);
};

/**
 * Reads the filters of times of a list.
 *
 * @throws what `refuse` throws, for a filter that is not emulated or no time
 */
export const timeFilters = (
  query: URLSearchParams,
  rules: ListRules,
): ((facts: CallFacts) => boolean) => {
  const filters: ((facts: CallFacts) => boolean)[] = [];
  for (const [name, text] of query) {
    if (others.has(name)) continue;
    const [time, timeOf] = Object.entries(times).find(([each]) => name.startsWith(each)) ?? [];
    const suffix = name.slice(time?.length);
    if (!timeOf || !["", ...rules.before, ...rules.after].includes(suffix)) {
      return rules.refuse(name, "is not emulated");
    }
    const isWanted = filterOf(text, rules, suffix);
    if (!isWanted)
      return rules.refuse(name, "must be a date, such as 2026-01-31, or a time in ISO 8601");
    filters.push((facts) => {
      const at = timeOf(facts);
      // A client knows the times of a call in whole seconds.
      return at !== undefined && isWanted(Math.floor(at / second) * second);
    });
  }
  return (facts) => filters.every((isListed) => isListed(facts));
};
