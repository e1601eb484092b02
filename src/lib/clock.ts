/** What a session does, for the figures of a simulated call. */
export type SessionObservation =
  | {
      readonly type: "transcript";
      readonly who: "agent" | "callee";
      readonly text: string;
      readonly final: boolean;
    }
  | {
      readonly type: "tool";
      readonly name: string;
      readonly args: unknown;
      /** Milliseconds that it took. */
      readonly took: number;
      readonly isError: boolean;
    }
  | { readonly type: "end"; readonly reason: string };

/** The time of a media socket: that of the process, or of a simulated call. */
export interface MediaClock {
  /** Milliseconds since a moment of its own. */
  readonly now: () => number;
  /** Calls a function after some milliseconds; returns what cancels that. */
  readonly after: (milliseconds: number, work: () => void) => () => void;
  /** Stops simulated time until the returned function is called; the time of the process passes all the same. */
  readonly hold: () => () => void;
  /** Called with what a session on the socket does. */
  readonly observe: (observation: SessionObservation) => void;
  /** Called before a session opens a socket of the platform. It throws where time is simulated. */
  readonly useNetwork: () => void;
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
  observe: nothing,
  useNetwork: nothing,
};
