import type { Timers } from "../lib/timers.ts";

/** How long a failed response waits before it is asked for again, by how often it was, in ms. */
const delays = [250, 1000];

/** Asks again for a response that has failed for a passing reason. */
export interface Retries {
  /** Nothing of a response has come, and a repetition may mend that. Returns whether it is asked for again. */
  readonly failed: () => boolean;
  /** Another response has begun. */
  readonly started: () => void;
  /** A response is complete, or the callee has spoken: the next one is another. */
  readonly reset: () => void;
}

/** @param limit - how often, one after the other */
export const createRetries = (
  limit: number,
  timers: Timers,
  {
    silentAt,
    retry,
    onLast,
  }: {
    /** When the callee is silent, by the clock: then the service may have begun another response. */
    readonly silentAt: () => number;
    readonly retry: () => void;
    /** The last one has failed, too. */
    readonly onLast: () => void;
  },
): Retries => {
  let tries = 0;
  const plan = (delay: number, work: () => void): void =>
    timers.set("retry", delay, () => timers.wait("retry", silentAt, work));
  return {
    failed: () => {
      if (tries < limit) plan(delays[tries++] ?? 1000, retry);
      else if (limit > 0) plan(0, onLast);
      return limit > 0;
    },
    started: () => timers.clear("retry"),
    reset: () => {
      tries = 0;
    },
  };
};
