import { type MediaClock, processClock } from "../../lib/clock.ts";

/** A part of the queued audio. */
export interface Part<Tag> {
  readonly tag: Tag;
  readonly bytes: Uint8Array;
}

interface Block<Tag> {
  readonly tag: Tag;
  /** Queued bytes are `[from, to)`; the rest is free capacity. */
  bytes: Uint8Array;
  from: number;
  to: number;
}

/** The size up to which pieces with the same tag are merged, in bytes: a block has a large fixed cost. */
const maxBlock = 65_536;

/** A queue of audio, with a tag on each byte. Pieces with the same tag are merged. */
export class AudioQueue<Tag> {
  readonly #blocks: Block<Tag>[] = [];
  #length = 0;

  /** Queued bytes. */
  get length(): number {
    return this.#length;
  }

  /** Queued blocks: one per tag, and one more for each 64 KiB. */
  get blocks(): number {
    return this.#blocks.length;
  }

  /** The tag of the next byte. */
  get next(): Tag | undefined {
    return this.#blocks[0]?.tag;
  }

  push(bytes: Uint8Array, tag: Tag): void {
    const last = this.#blocks.at(-1);
    this.#length += bytes.length;
    const size = last ? last.to - last.from + bytes.length : 0;
    if (!last || last.tag !== tag || size > maxBlock) {
      this.#blocks.push({ tag, bytes, from: 0, to: bytes.length });
      return;
    }
    if (last.to + bytes.length > last.bytes.length) {
      const larger = new Uint8Array(Math.min(2 * size, maxBlock));
      larger.set(last.bytes.subarray(last.from, last.to));
      Object.assign(last, { bytes: larger, from: 0, to: size - bytes.length });
    }
    last.bytes.set(bytes, last.to);
    last.to += bytes.length;
  }

  /** Removes and returns the next bytes of one tag, at most `limit` bytes. */
  take(limit: number): Part<Tag> | undefined {
    const [block] = this.#blocks;
    if (!block) return;
    const bytes = block.bytes.subarray(block.from, Math.min(block.to, block.from + limit));
    block.from += bytes.length;
    if (block.from === block.to) this.#blocks.shift();
    this.#length -= bytes.length;
    return { tag: block.tag, bytes };
  }

  /** Drops the bytes whose tag matches; all of them by default. */
  drop(matches: (tag: Tag) => boolean = () => true): void {
    for (const block of this.#blocks.splice(0)) {
      if (matches(block.tag)) this.#length -= block.to - block.from;
      else this.#blocks.push(block);
    }
  }
}

/** How often a full socket is checked, in ms: a WebSocket has no event for an empty buffer. */
const pollInterval = 20;

/** The bytes that a socket may buffer before the queue waits. */
export const maxBuffered = 65_536;

/** Sends the queued messages, each when it is due and the socket has capacity. */
export interface Sender {
  /** Sends what is due, and sets a timer for the rest. */
  readonly run: () => void;
  /** Clears the timer. */
  readonly stop: () => void;
}

/**
 * Drains a queue.
 *
 * @param queue - what is to be sent
 * @param wait - milliseconds until the next message is due
 * @param isFull - whether the socket's buffer is full
 * @param send - sends the next message from the queue
 */
export const createSender = (
  queue: { readonly length: number },
  wait: () => number,
  isFull: () => boolean,
  send: () => void,
  { after }: MediaClock = processClock,
): Sender => {
  let stop = () => {};
  const runAfter = (milliseconds: number) => {
    stop();
    stop = after(milliseconds, run);
  };
  const run = () => {
    stop();
    while (queue.length > 0) {
      const due = wait();
      if (due > 0 || isFull()) {
        runAfter(due > 0 ? due : pollInterval);
        return;
      }
      send();
    }
  };
  return { run, stop: () => stop() };
};
