import type { VirtualTime } from "../lib/clock.ts";
import { EventQueue } from "../lib/event-queue.ts";

/**
 * The time of one activity of a call: its line, or its notifications. All activities of one call have
 * the same time.
 */
export interface Timeline {
  /** Milliseconds since 1970, by the call's clock. */
  now(): number;
  /** Runs an activity. The instant clock advances only while the activity waits. */
  run(work: () => Promise<void>): Promise<void>;
  /** Waits some milliseconds, or until `skip` or `stop`. Only within `run`. */
  wait(milliseconds: number): Promise<void>;
  /** Calls a function after some milliseconds, unless `stop` comes first. */
  after(milliseconds: number, action: () => void): void;
  /** Ends the current waits. */
  skip(): void;
  /** Ends all waits, those that start later too, and drops what `after` has planned. */
  stop(): void;
  /** The timeline of another activity of the same call. */
  fork(): Timeline;
  /** Lets the application respond to what was sent, whatever the clock. */
  turn(): Promise<void>;
}

/** The next turn of the event loop of the process. */
const nextTurn = (): Promise<void> => new Promise((resolve) => setTimeout(resolve));

/** Starts the time of a call. */
export type Clock = () => Timeline;

/** Something that is due at a time. */
interface Due {
  readonly time: number;
  readonly owner: InstantTimeline;
  readonly action: () => void;
  /** Whether an activity waits for it: only then does time advance to it. */
  readonly isWait: boolean;
}

/** The time that the activities of one call share: it jumps to what is due next once all of them wait. */
class Agenda {
  now: number = Date.now();
  /** How many activities run and do not wait. */
  running = 0;
  readonly due: EventQueue<Due> = new EventQueue();

  advance(): void {
    while (this.running === 0 && this.due.has(({ isWait }) => isWait)) {
      const next = this.due.shift();
      if (!next) return;
      this.now = Math.max(this.now, next.time);
      next.action();
    }
  }
}

class InstantTimeline implements Timeline {
  readonly #agenda: Agenda;
  #stopped = false;

  constructor(agenda: Agenda) {
    this.#agenda = agenda;
  }

  now(): number {
    return this.#agenda.now;
  }

  async run(work: () => Promise<void>): Promise<void> {
    this.#agenda.running++;
    try {
      await work();
    } finally {
      this.#agenda.running--;
      this.#agenda.advance();
    }
  }

  wait(milliseconds: number): Promise<void> {
    return new Promise((resolve) => {
      if (this.#stopped || milliseconds <= 0) return resolve();
      const agenda = this.#agenda;
      const action = () => {
        agenda.running++;
        resolve();
      };
      agenda.due.add({ time: agenda.now + milliseconds, owner: this, action, isWait: true });
      agenda.running--;
      agenda.advance();
    });
  }

  after(milliseconds: number, action: () => void): void {
    if (this.#stopped) return;
    const time = this.#agenda.now + milliseconds;
    this.#agenda.due.add({ time, owner: this, action, isWait: false });
  }

  skip(): void {
    const waits = this.#agenda.due.take(({ owner, isWait }) => owner === this && isWait);
    for (const { action } of waits) action();
  }

  stop(): void {
    this.#stopped = true;
    const all = this.#agenda.due.take(({ owner }) => owner === this);
    for (const { isWait, action } of all) if (isWait) action();
  }

  fork(): Timeline {
    return new InstantTimeline(this.#agenda);
  }

  turn(): Promise<void> {
    return nextTurn();
  }
}

/** A clock on which nobody waits: time jumps, and durations add up as if it had passed. */
export const instantClock: Clock = () => new InstantTimeline(new Agenda());

type Timer = ReturnType<typeof setTimeout>;

/** The longest delay of a timer, in milliseconds. */
const maxDelay = 2 ** 31 - 1;

class RealTimeline implements Timeline {
  readonly now: () => number;
  readonly #speed: number;
  readonly #plans = new Set<Timer>();
  readonly #waits = new Map<Timer, () => void>();
  #stopped = false;

  constructor(now: () => number, speed: number) {
    this.now = now;
    this.#speed = speed;
  }

  run(work: () => Promise<void>): Promise<void> {
    return work();
  }

  wait(milliseconds: number): Promise<void> {
    return new Promise((resolve) => {
      if (this.#stopped || milliseconds <= 0) return resolve();
      const timer = this.#start(milliseconds, () => {
        this.#waits.delete(timer);
        resolve();
      });
      this.#waits.set(timer, resolve);
    });
  }

  after(milliseconds: number, action: () => void): void {
    if (this.#stopped) return;
    const timer = this.#start(milliseconds, () => {
      this.#plans.delete(timer);
      action();
    });
    this.#plans.add(timer);
  }

  skip(): void {
    for (const [timer, resolve] of this.#waits) {
      clearTimeout(timer);
      resolve();
    }
    this.#waits.clear();
  }

  stop(): void {
    this.#stopped = true;
    this.skip();
    for (const timer of this.#plans) clearTimeout(timer);
    this.#plans.clear();
  }

  fork(): Timeline {
    return new RealTimeline(this.now, this.#speed);
  }

  turn(): Promise<void> {
    return nextTurn();
  }

  #start(milliseconds: number, action: () => void): Timer {
    return setTimeout(action, Math.min(milliseconds / this.#speed, maxDelay));
  }
}

/** A clock that runs `speed` times as fast as real time. */
export const realClock = (speed: number): Clock => {
  const epoch = Date.now();
  const now = () => Math.round(epoch + (Date.now() - epoch) * speed);
  return () => new RealTimeline(now, speed);
};

/** The time of one activity on a virtual clock: while it runs and doesn't wait, no time passes, and no other one runs. */
class VirtualTimeline implements Timeline {
  readonly #time: VirtualTime;
  readonly #waits = new Map<() => void, () => void>();
  readonly #plans = new Set<() => void>();
  #isStopped = false;

  constructor(time: VirtualTime) {
    this.#time = time;
  }

  now(): number {
    return this.#time.epoch + this.#time.now;
  }

  async run(work: () => Promise<void>): Promise<void> {
    const turn = this.#time.enter();
    if (turn) await turn;
    try {
      await work();
    } finally {
      this.#time.leave();
    }
  }

  wait(milliseconds: number): Promise<void> {
    return new Promise((resolve) => {
      if (this.#isStopped || milliseconds <= 0) return resolve();
      const wake = () => {
        cancel();
        this.#waits.delete(wake);
        resolve(this.#time.enter());
      };
      const cancel = this.#time.media.after(milliseconds, wake);
      this.#waits.set(wake, cancel);
      this.#time.leave();
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
    return new VirtualTimeline(this.#time);
  }

  /** Time passes only once the application has responded, so there is nothing to wait for. */
  async turn(): Promise<void> {}
}

/** The time of a virtual clock, which all calls share. */
export const sharedClock =
  (time: VirtualTime): Clock =>
  () =>
    new VirtualTimeline(time);
