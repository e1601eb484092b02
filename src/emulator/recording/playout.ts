import { Row } from "./row.ts";

/** A name that an application gives to what it says. */
export type ChunkId = string | number;

/** Something that was played to the callee, wholly or up to where it was cut. All in samples. */
export interface Played {
  readonly chunk_id: ChunkId | undefined;
  /** When it began, since the answer. */
  readonly from: number;
  /** What was played of it. */
  readonly samples: Int16Array;
  /** How much of it was sent. */
  readonly of: number;
  readonly end: "played" | "cut" | "playing";
}

/** Something that is being played, or waits for it. */
interface Waiting {
  readonly chunk_id: ChunkId | undefined;
  readonly samples: Int16Array;
  /** When it came. */
  readonly at: number;
  /** Where it stands: it may have been played, or thrown away, while a list still holds it. */
  state: "waiting" | "played" | "gone";
}

/** What is waiting under one name. */
interface Named {
  readonly pieces: Waiting[];
  /** How many of those still wait. */
  left: number;
}

/** What is still kept of one call, which all its streams share: samples at `quotaRate`. */
export interface Quota {
  left: number;
}

/** The rate of a quota: the highest of any stream. */
export const quotaRate = 16_000;

/** What a message counts at least, 10 ms: else endless tiny ones would pass. */
const leastCost = quotaRate / 100;

/** How many pieces of a list may be done with before it is made anew. */
const mostDone = 1_000;

/**
 * Plays to the callee what an application sends, as a telephone would: one after the other, each from
 * the moment it comes or the end of what came before, and obeys `interrupt` and `clear` to the sample.
 *
 * What waits has no time of its own yet, so that nothing has to be moved when something before it is
 * thrown away: however many messages come, each costs the same.
 */
export class Playout {
  /** Samples a second. */
  readonly sampleRate: number;
  readonly #quota: Quota;
  readonly #played: Played[] = [];
  readonly #row: Row<Played> = new Row();
  readonly #named = new Map<ChunkId, Named>();
  #queue: Waiting[] = [];
  #head = 0;
  #gone = 0;
  #free = 0;

  constructor(sampleRate: number, quota: Quota) {
    this.sampleRate = sampleRate;
    this.#quota = quota;
  }

  /**
   * Says something as soon as what was said before has ended.
   *
   * @returns whether it is kept
   */
  say(samples: Int16Array, chunk_id: ChunkId | undefined, now: number): boolean {
    if (samples.length === 0) return true;
    const cost = this.#costOf(samples.length);
    if (cost > this.#quota.left) return false;
    this.#quota.left -= cost;
    this.#advance(now);
    const piece: Waiting = { chunk_id, samples, at: now, state: "waiting" };
    this.#queue.push(piece);
    if (chunk_id === undefined) return true;
    const named = this.#named.get(chunk_id) ?? { pieces: [], left: 0 };
    named.pieces.push(piece);
    named.left++;
    this.#named.set(chunk_id, named);
    return true;
  }

  /**
   * Stops what has this name; what comes after it comes earlier.
   *
   * @returns how many samples are thrown away
   */
  interrupt(chunk_id: ChunkId, now: number): number {
    this.#advance(now);
    const named = this.#named.get(chunk_id);
    if (!named) return 0;
    this.#named.delete(chunk_id);
    return this.#cut(named.pieces, now);
  }

  /**
   * Stops everything.
   *
   * @returns how many samples are thrown away
   */
  clear(now: number): number {
    this.#advance(now);
    this.#named.clear();
    const thrown = this.#cut(this.#queue.slice(this.#head), now);
    this.#queue = [];
    this.#head = 0;
    this.#gone = 0;
    return thrown;
  }

  /** What the callee has heard so far, in order. */
  heard(now: number): readonly Played[] {
    const playing = this.#playing(now);
    return playing ? [...this.#played, playing] : this.#played;
  }

  /** The same, as far as it lies in a stretch. */
  heardIn(first: number, end: number, now: number): readonly Played[] {
    const playing = this.#playing(now);
    const isIn = playing && playing.from < end && playing.from + playing.samples.length > first;
    const played = this.#row.between(first, end);
    return isIn ? [...played, playing] : played;
  }

  /** The sample at which so many had been heard after one; `undefined` while it was fewer. */
  reached(since: number, count: number, now: number): number | undefined {
    let left = count;
    for (const { from, samples } of this.heardIn(since, now, now)) {
      const start = Math.max(from, since);
      const size = from + samples.length - start;
      if (size >= left) return start + left;
      left -= size;
    }
    return;
  }

  /** What is being heard at this moment, as far as it has been. */
  #playing(now: number): Played | undefined {
    this.#advance(now);
    const current = this.#current();
    const from = current ? this.#startOf(current) : now;
    if (!current || from >= now) return;
    const { chunk_id, samples } = current;
    const heard = samples.subarray(0, now - from);
    return { chunk_id, from, samples: heard, of: samples.length, end: "playing" };
  }

  #costOf(samples: number): number {
    return Math.max((samples * quotaRate) / this.sampleRate, leastCost);
  }

  #startOf({ at }: Waiting): number {
    return Math.max(this.#free, at);
  }

  /** What is being played, or will be next. */
  #current(): Waiting | undefined {
    for (let piece = this.#queue[this.#head]; piece; piece = this.#queue[++this.#head]) {
      if (piece.state === "waiting") return piece;
    }
    return;
  }

  /** Plays what has been heard to its end by now. */
  #advance(now: number): void {
    for (let piece = this.#current(); piece; piece = this.#current()) {
      const end = this.#startOf(piece) + piece.samples.length;
      if (end > now) break;
      this.#play(piece, piece.samples.length, "played");
    }
    if (this.#head + this.#gone > mostDone && (this.#head + this.#gone) * 2 > this.#queue.length) {
      this.#queue = this.#queue.slice(this.#head).filter(({ state }) => state === "waiting");
      this.#head = 0;
      this.#gone = 0;
    }
  }

  #play(piece: Waiting, count: number, end: "played" | "cut"): void {
    const { chunk_id, samples } = piece;
    const from = this.#startOf(piece);
    const heard = count < samples.length ? samples.slice(0, count) : samples;
    const played: Played = { chunk_id, from, samples: heard, of: samples.length, end };
    this.#played.push(played);
    this.#row.add(from, from + count, played);
    this.#free = from + count;
    piece.state = "played";
    const named = chunk_id === undefined ? undefined : this.#named.get(chunk_id);
    if (named && chunk_id !== undefined && --named.left === 0) this.#named.delete(chunk_id);
  }

  #cut(pieces: readonly Waiting[], now: number): number {
    let thrown = 0;
    for (const piece of pieces) {
      if (piece.state !== "waiting") continue;
      const size = piece.samples.length;
      const heard = piece === this.#current() ? Math.max(0, now - this.#startOf(piece)) : 0;
      thrown += size - heard;
      this.#quota.left += this.#costOf(size) - (heard > 0 ? this.#costOf(heard) : 0);
      if (heard > 0) this.#play(piece, heard, "cut");
      else {
        piece.state = "gone";
        this.#gone++;
      }
    }
    return thrown;
  }
}
