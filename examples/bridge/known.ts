import { type Event, isFinal, type UnknownEvent } from "outdial/callbacks";
import type { KnownCall, Limit } from "./state.ts";

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

/** What is known of a call, if anything is, with news added: each event once, and no more than are kept. */
export const withNews = (
  id: string,
  known: KnownCall | undefined,
  { events = [], ...news }: Partial<Omit<KnownCall, "id">>,
): KnownCall => {
  const kept = [...(known?.events ?? [])];
  for (const event of events.filter(isShort)) {
    const isKnown = event.id !== undefined && kept.some(({ id }) => id === event.id);
    const isWanted = kept.length < mostEvents || (isFinal(event) && !kept.some(isFinal));
    if (isWanted && !isKnown) kept.push(event);
  }
  // What an event says of it counts only where the answer to the request for the call has said nothing.
  const call_id = known?.call_id ?? kept.find((event) => event.call_id)?.call_id ?? undefined;
  return { id, caller: "", ...known, ...(call_id && { call_id }), ...news, events: kept };
};

/** One more call of a caller, whose calls had these times, or the seconds to wait for it. */
export const oneMore = (
  spent: readonly number[],
  limits: readonly Limit[],
  time: number,
): { readonly wait: number; readonly times: readonly number[] } => {
  const longest = Math.max(...limits.map(({ seconds }) => seconds * 1000));
  const times = spent.filter((each) => each > time - longest);
  const waits = limits.map(({ calls, seconds }) => {
    // The call that must leave the window before one more fits into it.
    const blocking = times.filter((each) => each > time - seconds * 1000).at(-calls);
    return blocking === undefined ? 0 : blocking + seconds * 1000 - time;
  });
  const wait = Math.max(...waits);
  return { wait: Math.max(0, Math.ceil(wait / 1000)), times: wait > 0 ? times : [...times, time] };
};
