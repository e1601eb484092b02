import type { ChunkId, Progress } from "../../performer/media-socket.ts";
import { SpanList } from "./track.ts";

/** Audio that was played to the callee, all of it or up to a cut. All numbers are in samples. */
export interface Played {
  readonly chunk_id: ChunkId | undefined;
  /** When it began, since the answer. */
  readonly from: number;
  /** The part that was played. */
  readonly samples: Int16Array;
  /** How much was sent. */
  readonly total: number;
  readonly end: "played" | "cut" | "playing";
}

/** Audio that is being played, or is queued. */
interface Queued {
  readonly chunk_id: ChunkId | undefined;
  readonly samples: Int16Array;
  /** When it arrived. */
  readonly at: number;
  /** It may be played or dropped while a list still holds it. */
  state: "queued" | "played" | "dropped";
}

/** The queued audio of one chunk id. */
interface QueuedChunk {
  readonly pieces: Queued[];
  /** How many of the pieces are still queued. */
  left: number;
}

/** How much audio of one call may still be kept, shared by its streams: samples at `quotaRate`. */
export interface Quota {
  left: number;
}

/** The sample rate of a quota: the highest of any stream. */
export const quotaRate = 16_000;

/** The least that a message counts, 10 ms: it limits how many tiny messages are kept. */
const minCost = quotaRate / 100;

/** How many pieces at the head of the queue may be done before it is rebuilt. */
const maxDone = 1_000;

/**
 * Plays an application's audio to the callee as a telephone does: one piece after the other, each from the
 * moment it arrives or the end of the piece before, with `interrupt` and `clear` exact to the sample.
 *
 * Queued audio has no time of its own yet, so nothing moves when a piece before it is dropped, and every
 * message costs the same however many are queued.
 */
export class Playout {
  /** Samples per second. */
  readonly sampleRate: number;
  readonly #quota: Quota;
  readonly #played: Played[] = [];
  readonly #spans: SpanList<Played> = new SpanList();
  readonly #chunks = new Map<ChunkId, QueuedChunk>();
  #queue: Queued[] = [];
  #head = 0;
  #dropped = 0;
  /** The end of the latest piece. */
  #free = 0;
  /** All that was ever queued, and how much of it was played or dropped. */
  #total = 0;
  #done = 0;
  #changes = 0;

  constructor(sampleRate: number, quota: Quota) {
    this.sampleRate = sampleRate;
    this.#quota = quota;
  }

  /**
   * Queues audio after all that is queued.
   *
   * @returns whether the quota allows it
   */
  enqueue(samples: Int16Array, chunk_id: ChunkId | undefined, now: number): boolean {
    if (samples.length === 0) return true;
    const cost = this.#costOf(samples.length);
    if (cost > this.#quota.left) return false;
    this.#quota.left -= cost;
    this.#advance(now);
    this.#total += samples.length;
    const piece: Queued = { chunk_id, samples, at: now, state: "queued" };
    if (!this.#current()) this.#changes++;
    this.#queue.push(piece);
    if (chunk_id === undefined) return true;
    const chunk = this.#chunks.get(chunk_id) ?? { pieces: [], left: 0 };
    chunk.pieces.push(piece);
    chunk.left++;
    this.#chunks.set(chunk_id, chunk);
    return true;
  }

  /**
   * Drops the audio of one chunk id; what follows is played earlier.
   *
   * @returns how many samples are dropped
   */
  interrupt(chunk_id: ChunkId, now: number): number {
    this.#advance(now);
    const chunk = this.#chunks.get(chunk_id);
    if (!chunk) return 0;
    this.#chunks.delete(chunk_id);
    return this.#cut(chunk.pieces, now);
  }

  /**
   * Drops all audio.
   *
   * @returns how many samples are dropped
   */
  clear(now: number): number {
    this.#advance(now);
    this.#chunks.clear();
    const dropped = this.#cut(this.#queue.slice(this.#head), now);
    this.#queue = [];
    this.#head = 0;
    this.#dropped = 0;
    return dropped;
  }

  /** Plays nothing between two samples: what is queued is played that much later. */
  skip(from: number, to: number): void {
    this.#advance(from);
    const current = this.#current();
    const heard = current ? from - this.#startOf(current) : 0;
    if (current && heard > 0) this.#split(current, heard, to);
    if (current) this.#changes++;
    this.#free = Math.max(this.#free, to);
  }

  /** How many samples were queued in all. */
  get total(): number {
    return this.#total;
  }

  /** When so many of all samples are played or dropped, if nothing delays it. */
  overAt(count: number): number {
    const current = this.#current();
    return current && count > this.#done ? this.#startOf(current) + count - this.#done : 0;
  }

  /** When the current piece ends, if nothing delays it; `undefined` where there is none. */
  get nextEnd(): number | undefined {
    const current = this.#current();
    return current && this.#startOf(current) + current.samples.length;
  }

  /** How much of all was played or dropped. */
  progress(now: number): Progress {
    this.#advance(now);
    const current = this.#current();
    const playing = current ? Math.max(0, now - this.#startOf(current)) : 0;
    return { samples: this.#done + playing, changes: this.#changes };
  }

  /** What has been played so far, in order. */
  played(now: number): readonly Played[] {
    const playing = this.#playing(now);
    return playing ? [...this.#played, playing] : this.#played;
  }

  /** The same, limited to what overlaps a range. */
  playedIn(first: number, end: number, now: number): readonly Played[] {
    const playing = this.#playing(now);
    const isIn = playing && playing.from < end && playing.from + playing.samples.length > first;
    const played = this.#spans.between(first, end);
    return isIn ? [...played, playing] : played;
  }

  /** The sample at which `count` samples were played after `since`; `undefined` while it was fewer. */
  reached(since: number, count: number, now: number): number | undefined {
    let left = count;
    for (const { from, samples } of this.playedIn(since, now, now)) {
      const start = Math.max(from, since);
      const size = from + samples.length - start;
      if (size >= left) return start + left;
      left -= size;
    }
    return;
  }

  /** The played part of the current piece. */
  #playing(now: number): Played | undefined {
    this.#advance(now);
    const current = this.#current();
    const from = current ? this.#startOf(current) : now;
    if (!current || from >= now) return;
    const { chunk_id, samples } = current;
    const played = samples.subarray(0, now - from);
    return { chunk_id, from, samples: played, total: samples.length, end: "playing" };
  }

  #costOf(samples: number): number {
    return Math.max((samples * quotaRate) / this.sampleRate, minCost);
  }

  #startOf({ at }: Queued): number {
    return Math.max(this.#free, at);
  }

  /** The first queued piece. */
  #current(): Queued | undefined {
    for (let piece = this.#queue[this.#head]; piece; piece = this.#queue[++this.#head]) {
      if (piece.state === "queued") return piece;
    }
    return;
  }

  /** Plays all pieces that end by now. */
  #advance(now: number): void {
    for (let piece = this.#current(); piece; piece = this.#current()) {
      const end = this.#startOf(piece) + piece.samples.length;
      if (end > now) break;
      this.#play(piece, piece.samples.length, "played");
    }
    const done = this.#head + this.#dropped;
    if (done > maxDone && done * 2 > this.#queue.length) {
      this.#queue = this.#queue.slice(this.#head).filter(({ state }) => state === "queued");
      this.#head = 0;
      this.#dropped = 0;
    }
  }

  /** Ends the current piece after some samples, and queues the rest as a piece of the same chunk. */
  #split(current: Queued, count: number, at: number): void {
    const { chunk_id, samples } = current;
    const rest: Queued = { chunk_id, samples: samples.subarray(count), at, state: "queued" };
    this.#queue[this.#head] = rest;
    if (chunk_id !== undefined) {
      const chunk = this.#chunks.get(chunk_id) ?? { pieces: [], left: 0 };
      chunk.pieces.push(rest);
      chunk.left++;
      this.#chunks.set(chunk_id, chunk);
    }
    this.#play(current, count, "played");
  }

  #play(piece: Queued, count: number, end: "played" | "cut"): void {
    const { chunk_id, samples } = piece;
    const from = this.#startOf(piece);
    const part = count < samples.length ? samples.slice(0, count) : samples;
    const played: Played = { chunk_id, from, samples: part, total: samples.length, end };
    this.#played.push(played);
    this.#spans.add(from, from + count, played);
    this.#free = from + count;
    this.#done += count;
    this.#changes++;
    piece.state = "played";
    const chunk = chunk_id === undefined ? undefined : this.#chunks.get(chunk_id);
    if (chunk && chunk_id !== undefined && --chunk.left === 0) this.#chunks.delete(chunk_id);
  }

  #cut(pieces: readonly Queued[], now: number): number {
    let dropped = 0;
    for (const piece of pieces) {
      if (piece.state !== "queued") continue;
      const size = piece.samples.length;
      const played = piece === this.#current() ? Math.max(0, now - this.#startOf(piece)) : 0;
      dropped += size - played;
      this.#done += size - played;
      this.#changes++;
      this.#quota.left += this.#costOf(size) - (played > 0 ? this.#costOf(played) : 0);
      if (played > 0) this.#play(piece, played, "cut");
      else {
        piece.state = "dropped";
        this.#dropped++;
      }
    }
    return dropped;
  }
}
