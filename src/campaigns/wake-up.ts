import { type Waiting, waitingBy } from "../lib/clock.ts";

/** Wakes every loop that sleeps when there may be work. */
export class WakeUp {
  /** How many times work was announced. */
  count = 0;
  /** Whether no loop is to go on. */
  isClosed = false;
  readonly #sleepers = new Set<() => void>();

  announce(): void {
    this.count++;
    for (const wake of [...this.#sleepers]) wake();
  }

  close(): void {
    this.isClosed = true;
    this.announce();
  }

  /**
   * Sleeps until work is announced, the time is over or the signal aborts.
   *
   * @param since - `count` before the caller looked for work: what was announced since isn't lost
   */
  sleep(
    since: number,
    milliseconds: number,
    { after }: Pick<Waiting, "after">,
    signal?: AbortSignal,
  ): Promise<void> {
    if (this.count !== since || signal?.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const wake = (): void => {
        cancel();
        this.#sleepers.delete(wake);
        signal?.removeEventListener("abort", wake);
        resolve();
      };
      const isEndless = milliseconds === Number.POSITIVE_INFINITY;
      const cancel = isEndless ? () => {} : after(Math.max(0, milliseconds), wake);
      this.#sleepers.add(wake);
      signal?.addEventListener("abort", wake);
    });
  }
}

/**
 * The longest sleep in real time, in milliseconds: a clock may be set, a machine sleep, another process block numbers or end
 * calls.
 */
const longestSleep = 1_000;

/** How a loop goes. */
export interface LoopOptions {
  readonly wakeUp: WakeUp;
  /** Milliseconds since 1970, as `work` returns them. */
  readonly clock: () => number;
  readonly signal?: AbortSignal | undefined;
}

/** What the last work of a loop left. */
export interface LastWork {
  /** When to come back, in milliseconds since 1970. */
  readonly at: number | undefined;
  /** `count` of the wake-up before it: what was announced since is not done. */
  readonly seen: number;
}

/**
 * Works until it is over, the signal aborts or the wake-up is closed, and sleeps in between.
 *
 * @param isOver - whether it was the last work, by what that left
 */
export const loop = async (
  { wakeUp, clock, signal }: LoopOptions,
  work: () => Promise<number | undefined>,
  isOver: (last: LastWork) => boolean,
): Promise<LastWork> => {
  const waiting = waitingBy(clock);
  const longest = waiting.isVirtual ? Number.POSITIVE_INFINITY : longestSleep;
  let last: LastWork = { at: undefined, seen: wakeUp.count };
  while (!signal?.aborted && !wakeUp.isClosed) {
    const seen = wakeUp.count;
    last = { at: await waiting.turn(work), seen };
    if (isOver(last)) break;
    const wait = (last.at ?? Number.POSITIVE_INFINITY) - clock();
    await wakeUp.sleep(seen, Math.min(longest, wait), waiting, signal);
  }
  return last;
};
