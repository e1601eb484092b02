import { custom, type GenericSchema, optional, strictObject } from "valibot";
import { check, fail, presence } from "../lib/check.ts";
import { type MediaClock, type VirtualClock, type VirtualTime, withTime } from "../lib/clock.ts";
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
export class SimulatedTime implements VirtualTime {
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
  /** Called with what an action of the time threw: those for whom it advances. */
  readonly #drivers = new Set<(error: unknown) => void>();
  #isAdvancing = false;
  /** Whether somebody has their turn, and those who wait for theirs. */
  #isTaken = false;
  readonly #turns: (() => void)[] = [];

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

  /** The same, as emulators and campaigns take it. */
  readonly clock: VirtualClock;

  constructor({ epoch = midnight, pace = Number.POSITIVE_INFINITY }: SimulatedTimeOptions = {}) {
    this.epoch = epoch;
    this.#pace = pace;
    const clock = () => Math.round(this.epoch + this.#now);
    const wait = (milliseconds: number): Promise<void> => {
      if (!(Number.isFinite(milliseconds) && milliseconds >= 0))
        fail("milliseconds", "must be a finite number, 0 or more");
      const over = new Promise<void>((resolve) => void this.media.after(milliseconds, resolve));
      return this.runUntil(over);
    };
    this.clock = withTime(Object.assign(clock, { wait, hold: this.media.hold }), this);
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

  enter(): Promise<void> | undefined {
    this.hold();
    if (this.#isTaken) return new Promise((resolve) => this.#turns.push(resolve));
    this.#isTaken = true;
    return;
  }

  leave(): void {
    const next = this.#turns.shift();
    if (next) next();
    else this.#isTaken = false;
    this.release();
  }

  /** Advances until a promise has settled. It rejects with what an action throws that is due meanwhile. */
  runUntil(over: Promise<unknown>): Promise<void> {
    return new Promise((resolve, reject) => {
      const end = () => {
        this.#drivers.delete(reject);
        resolve();
        this.#wake();
      };
      this.#drivers.add(reject);
      over.then(end, end);
      if (!this.#isAdvancing) this.#advance();
    });
  }

  /** Advances while there is somebody to advance for. It never rejects. */
  async #advance(): Promise<void> {
    this.#isAdvancing = true;
    try {
      while (this.#drivers.size > 0) await this.#next();
    } catch (error) {
      for (const reject of this.#drivers) reject(error);
      this.#drivers.clear();
    } finally {
      this.#isAdvancing = false;
    }
  }

  /** Does what is due next, once nobody holds the time. */
  async #next(): Promise<void> {
    await nextTurn();
    const { next } = this.#due;
    const isOver = this.#drivers.size === 0;
    if (isOver || this.#isHeld || !next) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
        if (isOver || (!this.#isHeld && this.#due.next)) resolve();
      });
      return;
    }
    const early = this.#earlyBy(next.time);
    if (early > 0) {
      // Something else may be due before, once the process's own timers have come.
      await new Promise<void>((resolve) => setTimeout(resolve, early));
      return;
    }
    this.#due.shift();
    this.#now = Math.max(this.#now, next.time);
    next.action();
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

/** The options of a virtual clock. */
export interface VirtualClockOptions {
  /**
   * The time at the beginning.
   *
   * @defaultValue 2026-01-01T00:00:00Z
   */
  readonly start?: Date | undefined;
}

const VirtualClockSchema: GenericSchema<unknown, { readonly start: Date }> = strictObject(
  {
    start: optional(
      custom<Date>(
        (value) => value instanceof Date && !Number.isNaN(value.getTime()),
        "must be a date",
      ),
      () => new Date(midnight),
    ),
  },
  presence,
);

/**
 * Makes one time for emulators and campaigns in a test: give it to both as `clock`. Nothing waits: the time jumps to what
 * is due next, so a list with a retry after two hours takes milliseconds, with its rate, calling hours and call-backs.
 *
 * The time passes only while somebody waits for it: in `run`, `drain` and `close` of a campaign, in `ended` and `close` of an
 * emulator, and in `wait` of the clock. It stands still while an application responds, and while a campaign's `create`, `get` or
 * `end` is under way. A `run` returns, too, when nothing of the list is due any more. Timers of the process, such as the
 * `timeout` of a client, take real time.
 *
 * @param options - the time at the beginning
 * @throws {BadParametersException} when an option breaks its rule
 *
 * @example A retry after two hours
 * ```ts
 * import { DatabaseSync } from "node:sqlite";
 * import { Client } from "outdial";
 * import { callbackHandler } from "outdial/callbacks";
 * import { openCampaign } from "outdial/campaigns";
 * import { createEmulator } from "outdial/emulator";
 * import { virtualClock } from "outdial/testing";
 *
 * const clock = virtualClock({ start: new Date("2026-06-03T08:00:00Z") });
 * const secret = crypto.randomUUID(); // for the emulator only
 * const status = callbackHandler({ secret, onEvent: (received) => campaign.note(received) });
 * await using emulator = createEmulator({ clock, fetch: (request) => status(request) });
 * const { apiKey, fetch } = emulator;
 * const client = new Client(apiKey, { baseUrl: "https://emulator.test", fetch });
 *
 * const campaign = await openCampaign(new DatabaseSync(":memory:"), {
 *   ...{ clock, secret, window: "always", attempts: 2, retryDelay: 7_200_000 },
 *   from_number: "+12025550199",
 *   flow_url: "https://app.test/flow",
 *   status_callback_url: "https://app.test/status",
 *   create: (params, options) => client.calls.create(params, options),
 * });
 * await campaign.add([{ to_number: "+12025550101" }]); // is busy
 * await campaign.run();
 * const times = emulator.calls.map(({ initiated_at }) => new Date(initiated_at).toISOString());
 * console.log(times.join(" ")); // 2026-06-03T08:00:00.000Z 2026-06-03T10:00:00.000Z
 * await campaign.close();
 * ```
 * @see docs/testing.md
 */
export const virtualClock = (options: VirtualClockOptions = {}): VirtualClock => {
  const { start } = check(VirtualClockSchema, () => options, "options");
  return new SimulatedTime({ epoch: start.getTime() }).clock;
};
