import type { Player } from "../../player/player.ts";
import { isBelow } from "../../player/silence.ts";
import type { Timers } from "../timers.ts";

/** Louder than a line is on which nobody speaks, as the mean of the samples' size. */
const voice = 300;

/** So much of it, in ms, is something that should be answered: a knock is none. */
const spoken = 500;

/** What a watch asks, and whom it tells. */
export interface WatchListener {
  /** Whether a tool is at work: then nothing can come. */
  readonly isBusy: () => boolean;
  /** Half of the time has passed since the callee spoke. */
  readonly onDoubt: () => void;
  readonly onSilent: () => void;
}

/**
 * Finds out that an agent is gone: something should come of it, and nothing does. That the callee says
 * nothing, and so the agent neither, is no such thing.
 */
export class Watch {
  readonly #player: Player;
  readonly #silence: number;
  readonly #timers: Timers;
  readonly #listener: WatchListener;
  /** It was asked for something. */
  #isAsked = false;
  /** When there was a sign of life, or one began to be awaited. */
  #since = performance.now();
  #spoken = 0;
  #isInDoubt = false;

  /** @param silence - milliseconds */
  constructor(player: Player, silence: number, timers: Timers, listener: WatchListener) {
    this.#player = player;
    this.#silence = silence;
    this.#timers = timers;
    this.#listener = listener;
    this.#look();
  }

  /** Something should come of the agent from now on. */
  expect(): void {
    this.#isAsked = true;
    this.#since = performance.now();
  }

  /** Something came of it, whatever it means. */
  sign(at: number): void {
    this.#isAsked = false;
    this.#isInDoubt = false;
    this.#since = at;
    this.#spoken = 0;
  }

  /** The callee was heard, for so many ms: to speak into what the agent says asks for nothing. */
  hear(bytes: Uint8Array, ms: number): void {
    if (isBelow(voice, bytes) || this.#player.until > performance.now()) return;
    this.#spoken += ms;
    if (this.#spoken >= spoken) this.#since = performance.now();
  }

  #look(): void {
    const now = performance.now();
    if (this.#listener.isBusy()) this.#since = now;
    this.#since = Math.max(this.#since, this.#player.until);
    const isDue = this.#isAsked || this.#player.isOpen;
    const passed = isDue || this.#spoken >= spoken ? now - this.#since : 0;
    const half = this.#silence / 2;
    if (passed >= this.#silence) {
      this.#listener.onSilent();
      return;
    }
    // What the callee said may be none of its business, such as noise: then it is asked whether it is there.
    if (passed >= half && !isDue && !this.#isInDoubt) {
      this.#isInDoubt = true;
      this.#listener.onDoubt();
    }
    const wait = passed < half ? half - Math.max(0, passed) : this.#silence - passed;
    this.#timers.after("silence", Math.ceil(wait), () => this.#look());
  }
}
