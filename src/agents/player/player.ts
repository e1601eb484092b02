import type { Cut } from "../agent.ts";
import { Items } from "./items.ts";
import { withoutSilence } from "./silence.ts";

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

/** What may wait to be heard, in ms: five minutes. What comes beyond it is dropped. */
const most = 300_000;

/** A backlog of a voice that never stops is shortened above this, in ms. */
const backlog = 250;

/** After so long a silence an agent that names no turns has begun another, in ms. */
const pause = 500;

/** How much later than by our clock something may be heard: the way there takes a while, in ms. */
const margin = 250;

/** How many interrupted turns are remembered. */
const remembered = 64;

/** The end of the line that the player speaks into. */
export interface Mouth {
  readonly audio: (samples: Uint8Array<ArrayBuffer>) => unknown;
  readonly clear: () => void;
  readonly buffered: number;
}

/** How a player is set up. */
export interface PlayerOptions {
  /** Samples a second. */
  readonly sample_rate: number;
  /** The most audio in a message, in ms. */
  readonly chunk_size: number;
  /** Whether the voice never stops, silence included. */
  readonly continuous: boolean;
  /** Hears of each message that goes out, and how late it was: 0 unless the line had fallen silent. */
  readonly onSent: (late: number) => void;
}

interface Piece {
  readonly item: string;
  readonly turn: string | undefined;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/**
 * Says what an agent says: never more than a second ahead of what is heard, with a clock of what was heard
 * of each item, and silent within the turn of the event loop in which it is told so.
 */
export class Player {
  readonly #mouth: Mouth;
  readonly #options: PlayerOptions;
  readonly #bytesPerMs: number;
  readonly #items = new Items();
  #queue: Piece[] = [];
  #queued = 0;
  #queuedAt = 0;
  /** When all that was sent has been heard. */
  #until = Number.NEGATIVE_INFINITY;
  /** The turn of what was sent last: silence within a turn is a message that was late. */
  #saying: string | undefined;
  #isSilent = true;
  readonly #open = new Set<string>();
  readonly #cancelled = new Set<string>();
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
    this.#open.add(turn);
  }

  /** Says something; the milliseconds of it that are dropped: it was interrupted, or is too much. */
  say(bytes: Uint8Array<ArrayBuffer>, item = "", turn?: string): number {
    const { continuous } = this.#options;
    const isCancelled = turn !== undefined && this.#cancelled.has(turn);
    const isTooMuch = this.#queued / this.#bytesPerMs > most;
    if (isCancelled || isTooMuch) return bytes.length / this.#bytesPerMs;
    const isBehind = this.#waiting.length > 0 || this.until - performance.now() > backlog;
    const kept = continuous && isBehind ? withoutSilence(bytes, this.#bytesPerMs * 20) : bytes;
    if (kept.length > 0) {
      if (this.#queue.length === 0) this.#queuedAt = performance.now();
      if (turn !== undefined) this.#open.add(turn);
      this.#isDone = false;
      this.#queue.push({ item, turn, bytes: kept });
      this.#queued += kept.length;
      this.#items.say(item, turn, kept.length / this.#bytesPerMs);
      this.#pump();
    }
    return (bytes.length - kept.length) / this.#bytesPerMs;
  }

  /** All of an answer has come. */
  done(turn: string | undefined): void {
    if (turn !== undefined) this.#open.delete(turn);
    this.#isDone = this.#open.size === 0;
    this.#pump();
  }

  /** Nothing more comes, of any answer. */
  rest(): void {
    this.#open.clear();
    this.#isDone = true;
    this.#pump();
  }

  /** Silent, at once: what was cut off. */
  clear(): readonly Cut[] {
    const now = performance.now();
    const wasSaid = this.#until > now - 1000; // The service may be behind our clock.
    clearTimeout(this.#timer);
    for (const turn of [...this.#open, ...this.#items.turns]) this.#cancelled.add(turn);
    for (const turn of this.#cancelled) {
      if (this.#cancelled.size <= remembered) break;
      this.#cancelled.delete(turn);
    }
    const cuts = this.#items.cut(now, (turn) => turn !== undefined && this.#open.has(turn));
    this.#open.clear();
    this.#queue = [];
    this.#queued = 0;
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
    this.#queue = [];
    this.#queued = 0;
    this.#open.clear();
    this.#until = Number.NEGATIVE_INFINITY;
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  /** When all that has come is heard, or was, by `performance.now()`. */
  get until(): number {
    if (this.#queued === 0) return this.#until;
    return Math.max(this.#until, performance.now()) + this.#queued / this.#bytesPerMs;
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
    const isWhole = this.#queued >= chunk_size * this.#bytesPerMs || this.#isDone;
    if (isWhole && !continuous) return this.#until - ahead;
    return Math.max(this.#queuedAt + (isWhole ? 0 : patience), this.#until - low);
  }

  #send(): void {
    const size = Math.min(this.#queued, this.#options.chunk_size * this.#bytesPerMs);
    const message = new Uint8Array(size);
    const now = performance.now();
    let from = Math.max(now, this.#until);
    const gap = this.#isSilent ? 0 : from - this.#until;
    const turn = this.#queue[0]?.turn;
    const isSame = turn === undefined ? gap < pause : turn === this.#saying;
    this.#items.settle(now);
    for (let at = 0; at < size; ) {
      const piece = this.#queue[0];
      if (!piece) break;
      const part = piece.bytes.subarray(0, size - at);
      message.set(part, at);
      at += part.length;
      this.#items.play(piece.item, piece.turn, from, part.length / this.#bytesPerMs);
      from += part.length / this.#bytesPerMs;
      this.#saying = piece.turn;
      if (part.length === piece.bytes.length) this.#queue.shift();
      else this.#queue[0] = { ...piece, bytes: piece.bytes.subarray(part.length) };
    }
    this.#queued -= size;
    this.#queuedAt = now;
    this.#until = from;
    this.#isSilent = false;
    this.#options.onSent(isSame ? gap : 0);
    this.#mouth.audio(message);
  }

  /** Tells who waits that all was heard, once it is so. */
  #drain(): void {
    if (this.#waiting.length === 0 || this.#queue.length > 0 || this.#open.size > 0) return;
    const wait = this.#until + margin - performance.now();
    if (wait > 0) this.#after(wait);
    else for (const resolve of this.#waiting.splice(0)) resolve();
  }
}
