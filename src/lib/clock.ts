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

/**
 * One time for emulators and campaigns in a test: `virtualClock` of `outdial/testing` makes it. Called, it returns
 * milliseconds since 1970.
 */
export interface VirtualClock {
  (): number;
  /** Waits some milliseconds of this time: all that is due until then happens first. */
  readonly wait: (milliseconds: number) => Promise<void>;
  /** Returns the promise that it is given. This time stands still until that is settled. */
  readonly hold: <T>(work: Promise<T>) => Promise<T>;
}

/** The time of a virtual clock, for what waits by it. */
export interface VirtualTime {
  /** What the clock shows when `now` is 0, in milliseconds since 1970. */
  readonly epoch: number;
  readonly now: number;
  readonly media: Pick<MediaClock, "after" | "hold">;
  /**
   * Stops the time, and waits for the turn of whoever called before, so that all goes in the same order in each run.
   *
   * @returns `undefined` when it is the caller's turn at once
   */
  enter(): Promise<void> | undefined;
  /** Ends the turn: who waits for it is next. */
  leave(): void;
  /** Advances until a promise has settled. */
  runUntil(over: Promise<unknown>): Promise<void>;
}

const times: WeakMap<object, VirtualTime> = /* @__PURE__ */ new WeakMap();

/** The time of a clock; `undefined` for one that isn't virtual. */
export const virtualTimeOf = (clock: unknown): VirtualTime | undefined =>
  typeof clock === "function" ? times.get(clock) : undefined;

/** Makes a function a clock of a virtual time. */
export const withTime = <Clock extends () => number>(
  clock: Clock,
  time: VirtualTime | undefined,
): Clock => {
  if (time) times.set(clock, time);
  return clock;
};

/** How something waits: by the time of the process, or by that of a virtual clock. */
export interface Waiting extends Pick<MediaClock, "after" | "hold"> {
  readonly isVirtual: boolean;
  readonly wait: (milliseconds: number) => Promise<void>;
  /** Does work at once. Virtual time stands still, and nobody else has a turn, until it is done. */
  readonly turn: <T>(work: () => Promise<T>) => Promise<T>;
  /** Waits for a promise within a turn: virtual time passes, and others have their turns. */
  readonly yieldTo: <T>(work: Promise<T>) => Promise<T>;
  /** Returns the promise that it is given. Virtual time passes until that is settled. */
  readonly pass: <T>(work: Promise<T>) => Promise<T>;
}

const waitBy =
  ({ after }: Pick<MediaClock, "after">): Waiting["wait"] =>
  (milliseconds) =>
    new Promise((resolve) => void after(milliseconds, resolve));

/** How something waits in real time. */
export const inRealTime: Waiting = {
  ...{ after: processClock.after, hold: processClock.hold, isVirtual: false },
  wait: waitBy(processClock),
  turn: (work) => work(),
  yieldTo: processClock.hold,
  pass: processClock.hold,
};

/** How something waits by a clock. */
export const waitingBy = (clock: unknown): Waiting => {
  const time = virtualTimeOf(clock);
  if (!time) return inRealTime;
  const { after, hold } = time.media;
  return {
    ...{ after, hold, isVirtual: true, wait: waitBy(time.media) },
    turn: async (work) => {
      await time.enter();
      try {
        return await work();
      } finally {
        time.leave();
      }
    },
    yieldTo: (work) => {
      time.leave();
      return work.finally(() => time.enter());
    },
    pass: (work) => time.runUntil(work).then(() => work),
  };
};
