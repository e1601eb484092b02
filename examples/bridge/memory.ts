import { type Event, isFinal, type UnknownEvent } from "outdial/callbacks";
import type { KnownCall, Limit, State } from "./state.ts";

/** Calls that are remembered; the oldest go first. */
const most = 10_000;

/**
 * Events that are kept of a call, beside the one that ends it, and the characters of each. A call has
 * some ten short ones; whoever has got hold of its signed URL could send more, and longer ones.
 */
const mostEvents = 30;
const longestEvent = 2048;

const isShort = (event: Event | UnknownEvent): boolean => {
  try {
    return JSON.stringify(event).length <= longestEvent;
  } catch {
    return false; // Nested more deeply than anything that a call says.
  }
};

/** What is known of a call with news added: each event once, and no more than are kept. */
const withNews = (known: KnownCall["events"], news: KnownCall["events"]): KnownCall["events"] => {
  const kept = [...known];
  for (const event of news.filter(isShort)) {
    const isKnown = event.id !== undefined && kept.some(({ id }) => id === event.id);
    const isWanted = kept.length < mostEvents || (isFinal(event) && !kept.some(isFinal));
    if (isWanted && !isKnown) kept.push(event);
  }
  return kept;
};

const longest = ({ seconds }: Limit): number => seconds * 1000;

/**
 * Remembers in the memory of one process: right for one Deno, Bun or Node process, and for a try on
 * Workers, where every isolate would have a memory of its own.
 */
export const memory = (now: () => number = Date.now): State => {
  const calls = new Map<string, KnownCall>();
  const claimed = new Set<string>();
  const spent = new Map<string, readonly number[]>();

  const note: State["note"] = async (id, { events = [], ...news }) => {
    const known = calls.get(id) ?? { id, caller: "", events: [] };
    calls.set(id, { ...known, ...news, events: withNews(known.events, events) });
    for (const oldest of calls.keys()) {
      if (calls.size <= most) return;
      calls.delete(oldest);
      claimed.delete(oldest);
    }
  };

  return {
    spend: async (caller, limits) => {
      const time = now();
      const kept = Math.max(...limits.map(longest));
      const times = (spent.get(caller) ?? []).filter((each) => each > time - kept);
      const waits = limits.map((limit) => {
        // The call that must leave the window before one more fits into it.
        const blocking = times.filter((each) => each > time - longest(limit)).at(-limit.calls);
        return blocking === undefined ? 0 : blocking + longest(limit) - time;
      });
      const wait = Math.max(...waits);
      spent.set(caller, wait > 0 ? times : [...times, time]);
      return Math.ceil(wait / 1000);
    },
    note,
    claim: async (id) => {
      const isFirst = !claimed.has(id);
      claimed.add(id);
      await note(id, {});
      return isFirst;
    },
    find: async (id) => calls.get(id),
  };
};
