/** Functions that a session on the socket of a simulated call calls, beside those of the application. */
export interface SessionObserver {
  /** A text of what is said. */
  readonly onTranscript: (transcript: {
    readonly who: "agent" | "callee";
    readonly text: string;
    readonly final: boolean;
  }) => void;
  /** A tool has its result. */
  readonly onTool: (tool: {
    readonly name: string;
    readonly args: unknown;
    readonly took: number;
    readonly isError: boolean;
  }) => void;
  /** The session has ended. */
  readonly onEnd: (end: { readonly reason: string; readonly outcome?: string | undefined }) => void;
}

/** The time of a media socket: that of the process, or of a simulated call. */
export interface MediaClock {
  /** Milliseconds since a moment of its own. */
  readonly now: () => number;
  /** Calls a function after some milliseconds; returns what cancels that. */
  readonly after: (milliseconds: number, work: () => void) => () => void;
  /** Returns the promise that it is given. Simulated time stands still until that is settled. */
  readonly hold: <T>(work: Promise<T>) => Promise<T>;
  /**
   * Runs a tool as `hold` does, but for the time in which it waits for a method of the session: simulated time passes then.
   */
  readonly holdWith?:
    | (<Session extends object, T>(
        session: Session,
        run: (session: Session) => Promise<T>,
      ) => Promise<T>)
    | undefined;
  /** Called before a session opens a socket of the platform. It throws where time is simulated. */
  readonly useNetwork?: (() => void) | undefined;
  /** Called as the functions of `connectAgent`'s options are. */
  readonly observer?: SessionObserver | undefined;
}

/** The time of the process. */
export const processClock: MediaClock = {
  now: () => performance.now(),
  after: (milliseconds, work) => {
    const timer = setTimeout(work, milliseconds);
    return () => clearTimeout(timer);
  },
  hold: (work) => work,
};
