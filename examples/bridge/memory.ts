import { oneMore, withNews } from "./known.ts";
import type { KnownCall, State } from "./state.ts";

/** Calls that are remembered; the oldest go first. */
const most = 10_000;

/**
 * Remembers in the memory of one process: right for one Deno, Bun or Node process, and for a try on
 * Workers, where every isolate would have a memory of its own.
 */
export const memory = (now: () => number = Date.now): State => {
  const calls = new Map<string, KnownCall>();
  const claimed = new Map<string, Set<string>>();
  const spent = new Map<string, readonly number[]>();

  const note: State["note"] = async (id, news) => {
    calls.set(id, withNews(id, calls.get(id), news));
    for (const oldest of calls.keys()) {
      if (calls.size <= most) return;
      calls.delete(oldest);
      claimed.delete(oldest);
    }
  };

  return {
    spend: async (caller, limits) => {
      const { wait, times } = oneMore(spent.get(caller) ?? [], limits, now());
      spent.set(caller, times);
      return wait;
    },
    note,
    claim: async (id, what) => {
      const ofCall = claimed.get(id) ?? new Set();
      const isFirst = !ofCall.has(what);
      claimed.set(id, ofCall.add(what));
      await note(id, {});
      return isFirst;
    },
    find: async (id) => calls.get(id),
  };
};
