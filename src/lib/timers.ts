/** Timers by name, which all stop together. */
export interface Timers {
  /** Runs something after some milliseconds, instead of what had this name. */
  readonly set: (name: string, milliseconds: number, work: () => void) => void;
  readonly clear: (name: string) => void;
  /** Clears all of them; none is set any more. */
  readonly stop: () => void;
}

export const createTimers = (): Timers => {
  const timers = new Map<string, ReturnType<typeof setTimeout>>();
  let isStopped = false;
  const clear = (name: string) => {
    clearTimeout(timers.get(name));
    timers.delete(name);
  };
  return {
    set: (name, milliseconds, work) => {
      clear(name);
      if (!isStopped) timers.set(name, setTimeout(work, milliseconds));
    },
    clear,
    stop: () => {
      isStopped = true;
      for (const name of timers.keys()) clear(name);
    },
  };
};
