import type { MediaClock } from "./clock.ts";

/** Timers by name, which all stop together, and their clock. */
export interface Timers extends MediaClock {
  /** Runs something after some milliseconds, instead of what had this name. */
  readonly set: (name: string, milliseconds: number, work: () => void) => void;
  /** The same once the clock has reached a time, which may change meanwhile: at once if it has. */
  readonly wait: (name: string, until: () => number, work: () => void) => void;
  readonly clear: (name: string) => void;
  /** Clears all of them; none is set any more. */
  readonly stop: () => void;
}

export const createTimers = (clock: MediaClock): Timers => {
  const cancels = new Map<string, () => void>();
  let isStopped = false;
  const clear = (name: string) => {
    cancels.get(name)?.();
    cancels.delete(name);
  };
  const set: Timers["set"] = (name, milliseconds, work) => {
    clear(name);
    if (!isStopped) cancels.set(name, clock.after(milliseconds, work));
  };
  const wait: Timers["wait"] = (name, until, work) => {
    const rest = until() - clock.now();
    if (rest > 0) set(name, rest, () => wait(name, until, work));
    else work();
  };
  return {
    ...clock,
    set,
    wait,
    clear,
    stop: () => {
      isStopped = true;
      for (const name of cancels.keys()) clear(name);
    },
  };
};
