/** The delays of the timers that are set and not yet cleared. */
export const watchTimers = () => {
  const { setTimeout, clearTimeout } = globalThis;
  const set = new Map<unknown, number | undefined>();
  // Node's own fetch comes by here too, with arguments.
  globalThis.setTimeout = ((act: (...given: unknown[]) => void, delay?: number, ...given: []) => {
    const timer = setTimeout(() => {
      set.delete(timer);
      act(...given);
    }, delay);
    set.set(timer, delay);
    return timer;
  }) as typeof setTimeout;
  globalThis.clearTimeout = (timer) => {
    set.delete(timer);
    clearTimeout(timer);
  };
  return (delay: number) => [...set.values()].filter((each) => each === delay).length;
};

/** A signal that counts its listeners. */
export const watchedSignal = () => {
  const { signal } = new AbortController();
  const listeners = new Set<unknown>();
  const { addEventListener, removeEventListener } = signal;
  Object.assign(signal, {
    addEventListener: (...args: Parameters<typeof addEventListener>) => {
      listeners.add(args[1]);
      addEventListener.apply(signal, args);
    },
    removeEventListener: (...args: Parameters<typeof removeEventListener>) => {
      listeners.delete(args[1]);
      removeEventListener.apply(signal, args);
    },
  });
  return { signal, listeners: () => listeners.size };
};
