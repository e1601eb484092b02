const { setTimeout: platformSet, clearTimeout: platformClear } = globalThis;

const pause = (ms: number): Promise<void> => new Promise((resolve) => platformSet(resolve, ms));

/** Lets everything in this process that waits for no timer and no network run to its end. */
export const settle = async (turns = 20): Promise<void> => {
  for (let turn = 0; turn < turns; turn++) await pause(0);
};

/** Waits until a condition holds. Only the limit of the whole case ends a wait for one that never does. */
export const until = async (condition: () => unknown): Promise<void> => {
  while (!(await condition())) await pause(5);
};

/** A timer that fires only when the test says so. */
interface HeldTimer {
  readonly due: number;
  readonly delay: number;
  readonly act: () => void;
}

/** Timers that a test holds. */
export interface HeldTimers {
  /** The delays of the timers that are set, in milliseconds, in the order in which they were set. */
  readonly delays: () => readonly number[];
  /** Fires the timer that has this delay, as soon as there is one. */
  readonly fire: (delay: number) => Promise<void>;
}

type Timer = ReturnType<typeof setTimeout>;

/** Longer than any run. */
const never = 2 ** 30;

/** Replaces the timers of the platform; `time` is when a timer is set. */
const holdTimers = (isHeld: (delay: number) => boolean, time: () => number = () => 0) => {
  const held = new Map<Timer, HeldTimer>();
  // Node's own fetch sets timers here too, with arguments.
  globalThis.setTimeout = ((act: (...given: unknown[]) => void, delay = 0, ...given: unknown[]) => {
    if (!isHeld(delay)) return platformSet(act, delay, ...given);
    const timer = platformSet(() => {}, never);
    held.set(timer, { due: time() + delay, delay, act: () => act(...given) });
    return timer;
  }) as typeof setTimeout;
  globalThis.clearTimeout = ((timer: Timer) => {
    held.delete(timer);
    platformClear(timer);
  }) as typeof clearTimeout;
  const take = (timer: Timer): HeldTimer | undefined => {
    const taken = held.get(timer);
    held.delete(timer);
    platformClear(timer);
    return taken;
  };
  const release = () => {
    for (const timer of [...held.keys()]) take(timer);
    Object.assign(globalThis, { setTimeout: platformSet, clearTimeout: platformClear });
  };
  return { held, take, release };
};

/**
 * Does work whose timers fire when the test says so: a deadline is then a matter of order, not of the
 * machine's speed.
 *
 * @param isHeld - which timers are held, by their delay; the others are the platform's
 */
export const withHeldTimers = async <T>(
  isHeld: (delay: number) => boolean,
  work: (timers: HeldTimers) => Promise<T>,
): Promise<T> => {
  const { held, take, release } = holdTimers(isHeld);
  const fire = async (delay: number) => {
    const find = () => [...held].find(([, each]) => each.delay === delay)?.[0];
    await until(find);
    const timer = find();
    if (timer !== undefined) take(timer)?.act();
  };
  try {
    return await work({ delays: () => [...held.values()].map((each) => each.delay), fire });
  } finally {
    release();
  }
};

/**
 * Does work in virtual time: once nothing runs any more, the timer that is due first fires, and `Date.now()`
 * is when it is due. Only for work that waits for nothing outside of this process.
 */
export const inVirtualTime = async <T>(work: () => Promise<T>): Promise<T> => {
  const { now: platformNow } = Date;
  let now = platformNow();
  const { held, take, release } = holdTimers(
    () => true,
    () => now,
  );
  Date.now = () => now;
  let isOver = false;
  const result = work().finally(() => {
    isOver = true;
  });
  result.catch(() => {});
  try {
    while (!isOver) {
      await settle(2);
      const [next] = [...held].sort(([, one], [, other]) => one.due - other.due);
      if (!next || isOver) continue;
      now = Math.max(now, next[1].due);
      take(next[0])?.act();
    }
    return await result;
  } finally {
    Date.now = platformNow;
    release();
  }
};

/** The shortest of five runs of a piece of work, in milliseconds, so that one pause of the machine does not count. */
export const shortestRun = async (work: () => Promise<unknown>): Promise<number> => {
  let shortest = Number.POSITIVE_INFINITY;
  for (let run = 0; run < 5; run++) {
    const start = performance.now();
    await work();
    shortest = Math.min(shortest, performance.now() - start);
  }
  return shortest;
};
