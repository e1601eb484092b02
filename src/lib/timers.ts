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

/** A timer that is later than this has waited for the process, not for its time, in ms. */
const late = 50;

export const createTimers = (clock: MediaClock): Timers => {
  const cancels = new Map<string, () => void>();
  let isStopped = false;
  const clear = (name: string) => {
    cancels.get(name)?.();
    cancels.delete(name);
  };
  const set: Timers["set"] = (name, milliseconds, work) => {
    clear(name);
    if (isStopped) return;
    const due = clock.now() + milliseconds;
    const run = () => {
      if (clock.now() - due < late) work();
      // What came meanwhile is read first: it may be what the timer has waited for.
      else cancels.set(name, clock.after(1, work));
    };
    cancels.set(name, clock.after(milliseconds, run));
  };
  const wait: Timers["wait"] = (name, until, work) => {
    const rest = until() - clock.now();
    if (rest > 0) set(name, rest, () => wait(name, until, work));
    else {
      clear(name);
      work();
    }
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
