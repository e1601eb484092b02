import { hangUp } from "../../../server/call.ts";
import type { CallFacts } from "../../../server/history.ts";
import type { RestError } from "../../../server/rest.ts";
import { type MarkupCall, statusOf } from "./call.ts";
import type { Next } from "./fields.ts";
import type { MarkupCarrier } from "./flow.ts";
import type { MarkupRestParts } from "./side.ts";

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
const timeFilters = (query: URLSearchParams, rules: ListRules): ((facts: CallFacts) => boolean) => {
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

/** The size of a page of the list. */
const pageSizeIn = (query: URLSearchParams): number => {
  const size = Number(query.get("PageSize") ?? 50);
  return Number.isInteger(size) && size > 0 ? Math.min(size, 1_000) : 50;
};

/**
 * A page of a list, the newest first.
 *
 * @param name - of the field with the list
 * @param found - all of the list, the oldest first
 */
export const pageOf = <T>(
  url: URL,
  name: "calls" | "recordings" | "notifications",
  found: readonly T[],
  resourceOf: (one: T) => object,
): object => {
  const query = url.searchParams;
  const size = pageSizeIn(query);
  const page = Math.max(0, Math.trunc(Number(query.get("Page") ?? 0)) || 0);
  const start = page * size;
  const shown = [...found].reverse().slice(start, start + size);
  const uriOf = (at: number) => {
    const others = new URLSearchParams(query);
    others.set("PageSize", String(size));
    others.set("Page", String(at));
    return `${url.pathname}?${others}`;
  };
  return {
    [name]: shown.map(resourceOf),
    end: start + Math.max(shown.length - 1, 0),
    first_page_uri: uriOf(0),
    next_page_uri: start + size < found.length ? uriOf(page + 1) : null,
    page,
    page_size: size,
    previous_page_uri: page > 0 ? uriOf(page - 1) : null,
    start,
    uri: uriOf(page),
  };
};

/**
 * A page of the calls that the query asks for, the newest first.
 *
 * @throws {RestError} for a filter that is not emulated
 */
export const pageOfCalls = (
  url: URL,
  { allCalls, find }: MarkupRestParts,
  { failures, ...rules }: Pick<MarkupCarrier, "failures"> & ListRules,
  resourceOf: (call: MarkupCall) => object,
): object => {
  const query = url.searchParams;
  const isInTime = timeFilters(query, rules);
  const wanted = (name: string, value: string) => (query.get(name) ?? value) === value;
  const found = allCalls().flatMap(({ id, params, facts }) => {
    const isListed =
      wanted("To", params.to_number) &&
      wanted("From", params.from_number) &&
      wanted("Status", statusOf(facts, failures)) &&
      isInTime(facts);
    const call = isListed ? find(id) : undefined;
    return call ? [call] : [];
  });
  return pageOf(url, "calls", found, resourceOf);
};

/** What a request changes of a call. */
interface Update {
  readonly status: string;
  readonly next: Next | undefined;
}

/** Refuses an update. */
interface UpdateRefusals {
  readonly status: () => RestError;
  readonly notAnswered: () => RestError;
}

/**
 * Ends a call, or makes it continue elsewhere.
 *
 * @throws {RestError} when it is refused
 */
export const updateCall = (
  call: MarkupCall,
  { status, next }: Update,
  refusals: UpdateRefusals,
): void => {
  const { served } = call;
  if (status && status !== "completed" && status !== "canceled") throw refusals.status();
  if (next && !call.redirect) throw refusals.notAnswered();
  if (next) call.redirect?.(next);
  if (status) call.endedBy = "caller";
  // An answered call can't be canceled, and a completed one stays as it is.
  if (status === "completed") hangUp(served);
  if (status === "canceled") served.transition("canceled");
};
