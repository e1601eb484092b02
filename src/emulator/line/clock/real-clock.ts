import type { Clock, Timeline } from "./clock.ts";

type Timer = ReturnType<typeof setTimeout>;

/** What timers can do, and longer than any wait here. */
const longest = 2 ** 31 - 1;

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

  after(milliseconds: number, act: () => void): void {
    if (this.#stopped) return;
    const timer = this.#start(milliseconds, () => {
      this.#plans.delete(timer);
      act();
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

  #start(milliseconds: number, act: () => void): Timer {
    return setTimeout(act, Math.min(milliseconds / this.#speed, longest));
  }
}

/** Time that passes, `speed` times as fast as on the wall. */
export const realClock = (speed: number): Clock => {
  const epoch = Date.now();
  const now = () => Math.round(epoch + (Date.now() - epoch) * speed);
  return () => new RealTimeline(now, speed);
};
