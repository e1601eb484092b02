import type { Clock, Timeline } from "./clock.ts";

/** Something that is due at a time. */
interface Due {
  readonly time: number;
  readonly owner: InstantTimeline;
  readonly act: () => void;
  /** Whether work goes on then; a mere plan does not make time pass. */
  readonly isWait: boolean;
}

/** The time that the activities of one call share: it jumps to what is due next once all wait. */
class Agenda {
  now: number = Date.now();
  /** How many pieces of work are neither done nor waiting. */
  working = 0;
  #due: readonly Due[] = [];

  add(due: Due): void {
    this.#due = [...this.#due, due].sort((one, other) => one.time - other.time);
  }

  /** Takes out what an activity has on it. */
  take(owner: InstantTimeline, isMeant: (due: Due) => boolean): readonly Due[] {
    const taken = this.#due.filter((due) => due.owner === owner && isMeant(due));
    this.#due = this.#due.filter((due) => !taken.includes(due));
    return taken;
  }

  advance(): void {
    while (this.working === 0 && this.#due.some(({ isWait }) => isWait)) {
      const [next, ...others] = this.#due;
      if (!next) return;
      this.#due = others;
      this.now = Math.max(this.now, next.time);
      next.act();
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
    this.#agenda.working++;
    try {
      await work();
    } finally {
      this.#agenda.working--;
      this.#agenda.advance();
    }
  }

  wait(milliseconds: number): Promise<void> {
    return new Promise((resolve) => {
      if (this.#stopped || milliseconds <= 0) return resolve();
      const agenda = this.#agenda;
      const act = () => {
        agenda.working++;
        resolve();
      };
      agenda.add({ time: agenda.now + milliseconds, owner: this, act, isWait: true });
      agenda.working--;
      agenda.advance();
    });
  }

  after(milliseconds: number, act: () => void): void {
    if (this.#stopped) return;
    const time = this.#agenda.now + milliseconds;
    this.#agenda.add({ time, owner: this, act, isWait: false });
  }

  skip(): void {
    for (const { act } of this.#agenda.take(this, ({ isWait }) => isWait)) act();
  }

  stop(): void {
    this.#stopped = true;
    for (const { isWait, act } of this.#agenda.take(this, () => true)) if (isWait) act();
  }

  fork(): Timeline {
    return new InstantTimeline(this.#agenda);
  }
}

/** Time that never makes anyone wait, and adds up all the same. */
export const instantClock: Clock = () => new InstantTimeline(new Agenda());
