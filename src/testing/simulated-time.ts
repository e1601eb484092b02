import type { Clock, Timeline } from "../emulator/clock.ts";
import type { MediaClock } from "../lib/clock.ts";
import { EventQueue } from "../lib/event-queue.ts";

/** Something that is due at a time. */
interface Due {
  readonly time: number;
  readonly action: () => void;
}

/** The next turn of the event loop of the process, without the millisecond that a timer takes on Node. */
const nextTurn = (): Promise<void> =>
  new Promise((resolve) => {
    const immediate: unknown = Reflect.get(globalThis, "setImmediate");
    if (typeof immediate === "function") immediate(resolve);
    else setTimeout(resolve);
  });

/** How the time of a simulated call is made. */
interface SimulatedTimeOptions {
  /** What the clock shows when `now` is 0, in milliseconds since 1970. */
  readonly epoch?: number | undefined;
  /**
   * The most milliseconds of the call for each one of the process, without a limit by default: what waits on the process's own
   * clock sees another call.
   */
  readonly pace?: number | undefined;
}

/** Midnight of a day, so that the times of a simulated call are the same in each run. */
const midnight = Date.UTC(2026, 0, 1);

/**
 * The time of simulated calls, in milliseconds. It jumps to what is due next once everybody has reacted to what
 * happened before: no global is patched, so that several calls can have each a time of their own.
 */
export class SimulatedTime {
  /** What the clock shows when `now` is 0, in milliseconds since 1970. */
  readonly epoch: number;
  #now = 0;
  readonly #pace: number;
  /** When the process began to advance the time, on its own clock. */
  #began: number | undefined;
  #holds = 0;
  /** The tools that run, and those of them that don't wait for their session. */
  #running = 0;
  #busy = 0;
  /** Timers of the application that were set while tools run. */
  #waits = new Set<object>();
  readonly #due: EventQueue<Due> = new EventQueue();
  #wake = (): void => {};

  /** The time, as the media socket of the application has it. */
  readonly media: Pick<MediaClock, "now" | "after" | "hold" | "holdWith"> = {
    now: () => this.#now,
    after: (milliseconds, work) => this.#plan(milliseconds, work),
    hold: (work) => {
      const release = () => this.release();
      this.hold();
      work.then(release, release);
      return work;
    },
    holdWith: (session, run) => {
      /** Calls of the session that are pending. */
      let pending = 0;
      let isOver = false;
      const resume = () => {
        if (--pending === 0 && !isOver) this.#busy++;
      };
      const end = () => {
        isOver = true;
        if (pending === 0) this.#busy--;
        if (--this.#running === 0) this.#waits.clear();
        this.#wake();
      };
      this.#running++;
      this.#busy++;
      const work = run(
        new Proxy(session, {
          get: (target, name) => {
            const value: unknown = Reflect.get(target, name);
            if (typeof value !== "function") return value;
            return (...args: readonly unknown[]) => {
              const result: unknown = value(...args);
              if (result instanceof Promise) {
                if (pending++ === 0 && !isOver) this.#busy--;
                this.#wake();
                result.then(resume, resume);
              }
              return result;
            };
          },
        }),
      );
      work.then(end, end);
      return work;
    },
  };

  /**
   * The same for the application: while a tool runs, the time passes until what `after` has planned is due. The
   * connector's own timers don't let it pass.
   */
  readonly application: SimulatedTime["media"] = {
    ...this.media,
    after: (milliseconds, work) => {
      if (this.#running === 0) return this.media.after(milliseconds, work);
      const wait = {};
      const cancel = this.media.after(milliseconds, () => {
        this.#waits.delete(wait);
        work();
      });
      this.#waits.add(wait);
      this.#wake();
      return () => {
        this.#waits.delete(wait);
        cancel();
      };
    },
  };

  /** The same, as the emulator takes it. */
  readonly clock: Clock = () => new SimulatedTimeline(this);

  constructor({ epoch = midnight, pace = Number.POSITIVE_INFINITY }: SimulatedTimeOptions = {}) {
    this.epoch = epoch;
    this.#pace = pace;
  }

  get now(): number {
    return this.#now;
  }

  get #isHeld(): boolean {
    return this.#holds > 0 || this.#busy > this.#waits.size;
  }

  /** Stops the time until `release` was called as often. */
  hold(): void {
    this.#holds++;
  }

  release(): void {
    this.#holds--;
    this.#wake();
  }

  /** Advances until a promise has settled. */
  async runUntil(over: Promise<unknown>): Promise<void> {
    let isOver = false;
    const end = () => {
      isOver = true;
      this.#wake();
    };
    over.then(end, end);
    while (!isOver) {
      await nextTurn();
      const { next } = this.#due;
      if (this.#isHeld || !next) {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
          if (isOver || (!this.#isHeld && this.#due.next)) resolve();
        });
        continue;
      }
      const early = this.#earlyBy(next.time);
      if (early > 0) {
        // Something else may be due before, once the process's own timers have come.
        await new Promise<void>((resolve) => setTimeout(resolve, early));
        continue;
      }
      this.#due.shift();
      this.#now = Math.max(this.#now, next.time);
      next.action();
    }
  }

  /** How long the process has to wait before a time of the call may come, in milliseconds. */
  #earlyBy(time: number): number {
    if (this.#pace === Number.POSITIVE_INFINITY) return 0;
    this.#began ??= performance.now();
    return time / this.#pace - (performance.now() - this.#began);
  }

  #plan(milliseconds: number, action: () => void): () => void {
    const due = { time: this.#now + Math.max(0, milliseconds), action };
    this.#due.add(due);
    this.#wake();
    return () => void this.#due.take((each) => each === due);
  }
}

/** The time of one activity of the emulated call: while it runs and doesn't wait, no time passes. */
class SimulatedTimeline implements Timeline {
  readonly #time: SimulatedTime;
  readonly #waits = new Map<() => void, () => void>();
  readonly #plans = new Set<() => void>();
  #isStopped = false;

  constructor(time: SimulatedTime) {
    this.#time = time;
  }

  now(): number {
    return this.#time.epoch + this.#time.now;
  }

  async run(work: () => Promise<void>): Promise<void> {
    // Each counts by itself: notifications begin to be sent before the end of those before them was noticed.
    this.#time.hold();
    try {
      await work();
    } finally {
      this.#time.release();
    }
  }

  wait(milliseconds: number): Promise<void> {
    return new Promise((resolve) => {
      if (this.#isStopped || milliseconds <= 0) return resolve();
      const wake = () => {
        cancel();
        this.#waits.delete(wake);
        this.#time.hold();
        resolve();
      };
      const cancel = this.#time.media.after(milliseconds, wake);
      this.#waits.set(wake, cancel);
      this.#time.release();
    });
  }

  after(milliseconds: number, action: () => void): void {
    if (this.#isStopped) return;
    const cancel = this.#time.media.after(milliseconds, () => {
      this.#plans.delete(cancel);
      action();
    });
    this.#plans.add(cancel);
  }

  skip(): void {
    for (const wake of [...this.#waits.keys()]) wake();
  }

  stop(): void {
    this.#isStopped = true;
    this.skip();
    for (const cancel of this.#plans) cancel();
    this.#plans.clear();
  }

  fork(): Timeline {
    return new SimulatedTimeline(this.#time);
  }

  /** Time passes only once the application has responded, so there is nothing to wait for. */
  async turn(): Promise<void> {}
}
