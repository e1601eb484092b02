import type { Cut } from "../agent.ts";
import { Items } from "./items.ts";
import type { Mouth, PlayerOptions } from "./mouth.ts";
import { Queue } from "./queue.ts";
import { withoutSilence } from "./silence.ts";
import { Turns } from "./turns.ts";

/** What is sent while so many milliseconds aren't heard yet, waits. */
const ahead = 500;

/** With less than this before it is silent, even a short message goes out, in ms. */
const low = 100;

/** How long the beginning of something waits for more of it, in ms: short messages cost. */
const patience = 60;

/** How often a full network is looked at, in ms. */
const interval = 20;

/** What may wait for the network, in bytes. */
const enough = 65_536;

/** What may wait to be heard, in ms: five minutes; and in pieces. What comes beyond it is dropped. */
const most = 300_000;
const mostPieces = 1000;

/** A backlog of a voice that never stops is shortened above this, in ms. */
const backlog = 250;

/** After so long a silence an agent that names no turns has begun another, in ms. */
const pause = 500;

/** How much later than by our clock something may be heard: the way there takes a while, in ms. */
const margin = 250;

/**
 * Says what an agent says: never more than a second ahead of what is heard, with a clock of what was heard
 * of each item, and silent within the turn of the event loop in which it is told so.
 */
export class Player {
  readonly #mouth: Mouth;
  readonly #options: PlayerOptions;
  readonly #bytesPerMs: number;
  readonly #items = new Items();
  readonly #queue = new Queue();
  #queuedAt = 0;
  /** When all that was sent has been heard. */
  #until = Number.NEGATIVE_INFINITY;
  /** The turn of what was sent last: silence within a turn is a message that was late. */
  #saying: string | undefined;
  #isSilent = true;
  readonly #turns = new Turns();
  /** Whether all of what is queued has come. */
  #isDone = false;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #waiting: (() => void)[] = [];

  constructor(mouth: Mouth, options: PlayerOptions) {
    this.#mouth = mouth;
    this.#options = options;
    this.#bytesPerMs = (options.sample_rate * 2) / 1000;
  }

  /** An answer begins. */
  begin(turn: string): void {
    this.#turns.begin(turn);
  }

  /** Whether an answer was cut off: whatever comes of it is dropped. */
  isCancelled(turn: string | undefined): boolean {
    return this.#turns.isCancelled(turn);
  }

  /** Says something; the milliseconds of it that are dropped: it was interrupted, or is too much. */
  say(bytes: Uint8Array<ArrayBuffer>, item = "", turn?: string): number {
    const { continuous } = this.#options;
    const queue = this.#queue;
    const isTooMuch = queue.length / this.#bytesPerMs > most || queue.pieces >= mostPieces;
    if (isTooMuch || this.isCancelled(turn)) return bytes.length / this.#bytesPerMs;
    const isBehind = this.#waiting.length > 0 || this.until - performance.now() > backlog;
    const kept = continuous && isBehind ? withoutSilence(bytes, this.#bytesPerMs * 20) : bytes;
    if (kept.length > 0) {
      if (queue.length === 0) this.#queuedAt = performance.now();
      if (turn !== undefined) this.#turns.begin(turn);
      this.#isDone = false;
      queue.push(kept, item, turn);
      this.#items.say(item, turn, kept.length / this.#bytesPerMs);
      this.#pump();
    }
    return (bytes.length - kept.length) / this.#bytesPerMs;
  }

  /** All of an answer has come. */
  done(turn: string | undefined): void {
    if (turn !== undefined) this.#turns.done(turn);
    this.#isDone = !this.#turns.isOpen;
    this.#pump();
  }

  /** Nothing more comes, of any answer. */
  rest(): void {
    this.#turns.clear();
    this.#isDone = true;
    this.#pump();
  }

  /** Silent, at once: what was cut off. */
  clear(): readonly Cut[] {
    const now = performance.now();
    const wasSaid = this.#unsent > 0 || this.#until > now - 1000; // The service may be behind our clock.
    clearTimeout(this.#timer);
    const cuts = this.#items.cut(this.#heardAt(now), (turn) => this.#turns.has(turn));
    this.#turns.cancel();
    this.#queue.clear();
    this.#until = Number.NEGATIVE_INFINITY;
    this.#isSilent = true;
    if (wasSaid) this.#mouth.clear();
    this.#drain();
    return cuts;
  }

  /** Waits until all was heard, and nothing more is on its way. */
  drained(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      this.#pump();
    });
  }

  /** Says nothing any more; leaves no timer. */
  stop(): void {
    clearTimeout(this.#timer);
    this.#queue.clear();
    this.#turns.clear();
    this.#until = Number.NEGATIVE_INFINITY;
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  /** When all that has come is heard, or was, by `performance.now()`. */
  get until(): number {
    const { length } = this.#queue;
    if (length === 0) return this.#until;
    return Math.max(this.#until, performance.now()) + length / this.#bytesPerMs;
  }

  /** Whether more of an answer is on its way. */
  get isOpen(): boolean {
    return this.#turns.isOpen;
  }

  /** Milliseconds of what was said that wait for the network, in base64. */
  get #unsent(): number {
    return (this.#mouth.buffered * 0.75) / this.#bytesPerMs;
  }

  /** Up to when it was heard: what waits for the network wasn't. */
  #heardAt(now: number): number {
    const unsent = this.#unsent;
    return unsent > 0 ? Math.min(now, this.#until - unsent) : now;
  }

  /** Sends what is due, and sets the clock for the rest. */
  #pump(): void {
    clearTimeout(this.#timer);
    while (this.#queue.length > 0) {
      const wait = this.#due() - performance.now();
      if (wait > 0 || this.#mouth.buffered > enough) {
        this.#after(wait > 0 ? wait : interval);
        return;
      }
      this.#send();
    }
    this.#drain();
  }

  #after(milliseconds: number): void {
    this.#timer = setTimeout(() => this.#pump(), milliseconds);
  }

  /** When the next message goes out: a whole one early, the beginning of one as late as may be. */
  #due(): number {
    const { chunk_size, continuous } = this.#options;
    const isWhole = this.#queue.length >= chunk_size * this.#bytesPerMs || this.#isDone;
    if (isWhole && !continuous) return this.#until - ahead;
    return Math.max(this.#queuedAt + (isWhole ? 0 : patience), this.#until - low);
  }

  #send(): void {
    const size = Math.min(this.#queue.length, this.#options.chunk_size * this.#bytesPerMs);
    const message = new Uint8Array(size);
    const now = performance.now();
    let from = Math.max(now, this.#until);
    const gap = this.#isSilent ? 0 : from - this.#until;
    const { turn } = this.#queue;
    const isSame = turn === undefined ? gap < pause : turn === this.#saying;
    this.#items.settle(this.#heardAt(now));
    for (let at = 0; at < size; ) {
      const part = this.#queue.take(size - at);
      if (!part) break;
      const { item, turn, bytes } = part;
      message.set(bytes, at);
      at += bytes.length;
      this.#items.play(item, turn, from, bytes.length / this.#bytesPerMs);
      from += bytes.length / this.#bytesPerMs;
      this.#saying = turn;
    }
    this.#queuedAt = now;
    this.#until = from;
    this.#isSilent = false;
    this.#options.onSent(isSame ? gap : 0);
    this.#mouth.audio(message);
  }

  /** Tells who waits that all was heard, once it is so. */
  #drain(): void {
    if (this.#waiting.length === 0 || this.#queue.length > 0 || this.isOpen) return;
    const now = performance.now();
    const unsent = this.#unsent;
    if (unsent > 0) this.#until = Math.max(this.#until, now + unsent);
    const wait = this.#until + margin - now;
    if (wait > 0) this.#after(wait);
    else for (const resolve of this.#waiting.splice(0)) resolve();
  }
}
