import { hangUp } from "../../../server/call.ts";
import type { RestError } from "../../../server/rest.ts";
import { type MarkupCall, statusOf } from "./call.ts";
import type { Next } from "./fields.ts";
import { type ListRules, timeFilters } from "./filters.ts";
import type { MarkupCarrier } from "./flow.ts";
import type { MarkupRestParts } from "./side.ts";

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
