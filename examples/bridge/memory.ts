import type { Event, UnknownEvent } from "outdial/callbacks";
import type { KnownCall, Limit, State } from "./state.ts";

/** Calls that are remembered; the oldest go first. */
const most = 10_000;

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
    const isNew = ({ id: event }: Event | UnknownEvent): boolean =>
      event === undefined || known.events.every((each) => each.id !== event);
    calls.set(id, { ...known, ...news, events: [...known.events, ...events.filter(isNew)] });
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
