import type { Progress } from "../ledger/campaign/progress.ts";

/** The longest sleep, in milliseconds: a clock may be set, or a machine asleep. */
const longest = 15_000;

/** What is run: one step after the other. */
interface Steps {
  readonly step: () => Promise<number | undefined>;
  readonly idle: () => Promise<void>;
  readonly progress: () => Progress;
  readonly clock: () => number;
  /** Whether there is nothing to be run any more. */
  readonly isClosed: () => boolean;
  /** Sets who hears of a change. */
  readonly listen: (onChange: () => void) => void;
}

/**
 * Steps until every contact has ended, the campaign is paused or closed or the signal aborts; then waits for the
 * answers that are under way.
 */
export const run = async (
  { step, idle, progress, clock, isClosed, listen }: Steps,
  signal: AbortSignal | undefined,
): Promise<Progress> => {
  let wake = (): void => {};
  const stop = (): void => wake();
  listen(() => wake());
  signal?.addEventListener("abort", stop);
  try {
    while (!signal?.aborted && !isClosed()) {
      let changed = false;
      const change = new Promise<void>((resolve) => {
        wake = () => {
          changed = true;
          resolve();
        };
      });
      const at = await step();
      const { done, state } = progress();
      if (done || state === "paused") break;
      if (changed) continue;
      const wait = Math.min(longest, (at ?? Number.POSITIVE_INFINITY) - clock());
      const timer = setTimeout(wake, Math.max(0, wait));
      await change;
      clearTimeout(timer);
    }
    await idle();
    return progress();
  } finally {
    listen(() => {});
    signal?.removeEventListener("abort", stop);
  }
};
