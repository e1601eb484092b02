import { waitingBy } from "../lib/clock.ts";
import type { Campaign } from "./campaign.ts";
import type { Dialer } from "./dialer.ts";
import { type Progress, recounted } from "./progress.ts";
import { isBusyError, type Sql } from "./sqlite.ts";
import { markClosed } from "./tables.ts";
import { type LastWork, loop } from "./wake-up.ts";

/** Something that is read from the ledger, and what it was the last time. */
export class LastKnown<Args extends readonly unknown[], T> {
  readonly #read: (...args: Args) => T;
  #known: T;

  constructor(read: (...args: Args) => T, first: T) {
    this.#read = read;
    this.#known = first;
  }

  /** @throws {LedgerException} `busy` */
  now(...args: Args): T {
    this.#known = this.#read(...args);
    return this.#known;
  }

  /** Replaces what is known by what was read in another way. */
  renew(read: (known: T) => T): T {
    this.#known = read(this.#known);
    return this.#known;
  }

  /** What it is, or was the last time while another program holds the file. */
  lastKnown(...args: Args): T {
    try {
      return this.now(...args);
    } catch (error) {
      if (!isBusyError(error)) throw error;
      return this.#known;
    }
  }
}

/** The loops of a campaign, and `close`, which ends them. */
export const loopsOf = (
  sql: Sql,
  dialer: Dialer,
  clock: () => number,
  progress: LastKnown<[], Progress>,
): Pick<Campaign, "run" | "drain" | "close"> => {
  const { pass, isVirtual } = waitingBy(clock);
  const loops = new Set<Promise<unknown>>();
  let closed: Promise<void> | undefined;
  const closeOnce = async (): Promise<void> => {
    await dialer.close();
    await Promise.allSettled(loops);
    try {
      await dialer.whileBusy(() => markClosed(sql));
    } finally {
      sql.close();
    }
  };
  const looping = async (
    work: () => Promise<number | undefined>,
    isOver: (last: LastWork) => boolean,
    signal: AbortSignal | undefined,
  ): Promise<Progress> => {
    const isKnownToBeOver = (last: LastWork): boolean => {
      try {
        return isOver(last);
      } catch (error) {
        if (isBusyError(error)) return false;
        throw error;
      }
    };
    const { wakeUp } = dialer;
    const run = pass(
      loop({ wakeUp, clock, signal }, work, isKnownToBeOver).then(() => {
        if (signal?.aborted) dialer.interrupt();
        return dialer.idle();
      }),
    );
    loops.add(run);
    try {
      await run;
      return progress.lastKnown();
    } finally {
      loops.delete(run);
    }
  };
  // After each step, so that it is known when another program holds the file from then on.
  const counted = (): Progress => progress.renew((known) => recounted(sql, known));
  return {
    run: ({ signal } = {}) => {
      const isOver = ({ at }: LastWork): boolean => {
        const { done, state, calling } = counted();
        // In virtual time nothing else will wake it: all have ended, or no call may begin any more.
        const isDeadEnd = isVirtual && at === undefined && calling === 0;
        return done || state === "paused" || isDeadEnd;
      };
      return looping(() => dialer.step(), isOver, signal);
    },
    drain: ({ signal } = {}) =>
      looping(
        () => dialer.giveUp(),
        () => counted().calling === 0,
        signal,
      ),
    close: () => {
      closed ??= pass(closeOnce());
      return closed;
    },
  };
};
