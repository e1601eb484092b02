/**
 * The time of one activity of a call: its line, or its notifications. All activities of one call see
 * the same time.
 */
export interface Timeline {
  /** Milliseconds since 1970, as the call sees them. */
  now(): number;
  /** Does a piece of work. The instant clock stands still but where the work waits. */
  run(work: () => Promise<void>): Promise<void>;
  /** Waits for some milliseconds, or less: until `skip` or `stop`. Only within `run`. */
  wait(milliseconds: number): Promise<void>;
  /** Does something after some milliseconds, unless `stop` comes first. */
  after(milliseconds: number, act: () => void): void;
  /** Ends the waits of this moment. */
  skip(): void;
  /** Ends every wait, those to come too, and drops what was to be done. */
  stop(): void;
  /** Another activity of the same call. */
  fork(): Timeline;
}

/** Starts the time of a call. */
export type Clock = () => Timeline;
