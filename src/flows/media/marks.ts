import type { MediaClock } from "../../lib/clock.ts";
import type { Acknowledged } from "./playback.ts";

/** A message whose mark has not come back: when it plays, by the clock of the playback. */
interface Unplayed {
  readonly id: string;
  readonly from: number;
  readonly until: number;
}

/** The maximum number of pending marks. Beyond it the oldest counts as lost by the service. */
const maxUnplayed = 1000;

/** The longest delay that counts as one of the network, in ms: beyond it the service was busy. */
const maxDelay = 1000;

/**
 * What a service has played, where it sends each mark back once all audio before it was played. When a mark comes
 * back, the next message begins; until its own comes back, no more than that message counts as played. So audio that
 * a slow or stalled service still holds never counts as played.
 *
 * A mark on an idle line comes back at once, after the delay of the network, both ways. When a `clear` reaches the
 * service, playback is ahead of its marks by that delay; when the other side has left, it is not.
 */
export class Marks implements Acknowledged {
  readonly #send: (id: string) => void;
  readonly #clock: MediaClock;
  #unplayed: Unplayed[] = [];
  /** The first of them began to play `from` then, by the clock of the socket. */
  #beganAt = 0;
  #lastAt = Number.NEGATIVE_INFINITY;
  #delay: number | undefined;
  #probes = 0;
  #probedAt = 0;
  #isUsed = false;

  /** @param send - sends a mark */
  constructor(send: (id: string) => void, clock: MediaClock) {
    this.#send = send;
    this.#clock = clock;
  }

  use(): void {
    this.#isUsed = true;
    this.#probe();
  }

  /** Measures the delay of the network on an idle line. */
  #probe(): void {
    if (!this.#isUsed || this.#unplayed.length > 0) return;
    this.#probedAt = this.#clock.now();
    this.#send(`probe ${++this.#probes}`);
  }

  sent(id: string, from: number, until: number): void {
    if (this.#unplayed.length === 0) this.#beganAt = this.#clock.now();
    this.#unplayed.push({ id, from, until });
    if (this.#unplayed.length > maxUnplayed) this.#next(1);
    this.#send(id);
  }

  /** A mark has come back. It is ignored if its message was cleared, or a later mark has overtaken it. */
  played(id: string): void {
    if (id === `probe ${this.#probes}`) {
      const delay = this.#clock.now() - this.#probedAt;
      this.#delay = Math.min(this.#delay ?? maxDelay, delay);
      return;
    }
    const at = this.#unplayed.findIndex((message) => message.id === id);
    if (at < 0) return;
    this.#lastAt = this.#clock.now();
    this.#next(at + 1);
    if (this.#unplayed.length === 0) this.#probe();
  }

  /** The line was cleared: marks that come back now were not played. */
  clear(): void {
    this.#unplayed = [];
    this.#probe();
  }

  playedAt(now: number, isLeft: boolean): number {
    const [first] = this.#unplayed;
    if (!first) return Number.POSITIVE_INFINITY;
    const { from, until } = first;
    const played = from + now - this.#beganAt;
    if (!isLeft) return Math.min(until + (this.#delay ?? 0), played);
    // Who has left heard nothing while the mark that measures the delay was on its way.
    const delay = this.#delay ?? (this.#isUsed ? this.#clock.now() - this.#probedAt : 0);
    return Math.min(until, played - Math.min(delay, maxDelay));
  }

  lastAt(): number {
    return this.#unplayed.length > 0 ? Number.POSITIVE_INFINITY : this.#lastAt;
  }

  #next(count: number): void {
    this.#unplayed.splice(0, count);
    this.#beganAt = this.#clock.now() - (this.#delay ?? 0);
  }
}
