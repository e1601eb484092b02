/** The time of a media socket: that of the process, or of a simulated call. */
export interface MediaClock {
  /** Milliseconds since a moment of its own. */
  readonly now: () => number;
  /** Calls a function after some milliseconds; returns what cancels that. */
  readonly after: (milliseconds: number, work: () => void) => () => void;
  /** Stops simulated time until the returned function is called; the time of the process passes all the same. */
  readonly hold: () => () => void;
}

const nothing = (): void => {};

/** The time of the process. */
export const processClock: MediaClock = {
  now: () => performance.now(),
  after: (milliseconds, work) => {
    const timer = setTimeout(work, milliseconds);
    return () => clearTimeout(timer);
  },
  hold: () => nothing,
};
