import type { FileHandle } from "node:fs/promises";
import { telephoneRate } from "../emulator/recording/recording.ts";
import { wavHead, wavHeadSize } from "../emulator/recording/wav.ts";
import { bytesOf } from "../lib/encoding.ts";
import type { Side } from "../performer/media-socket.ts";

/** The part of a file that is written to. */
export type WrittenFile = Pick<FileHandle, "write" | "close">;

/** Opens a new file for writing. */
export type OpenFile = (path: string, flags: "wx", mode: number) => Promise<WrittenFile>;

/** Bytes of one sample of both sides. */
export const frameSize = 4;

/** How much is kept in memory for a disk that is slow, in samples of each side: five seconds. */
const capacity = 5 * telephoneRate;

/** How old samples are when they are written, in samples: some come later than others. */
const settling = telephoneRate / 4;

const channelOf: Readonly<Record<Side, 0 | 1>> = { callee: 0, application: 1 };

/** Only its owner reads and writes it. */
const fileMode = 0o600;

/** Writes all bytes: the system may write a part of them. */
const writeAll = async (file: WrittenFile, bytes: Uint8Array, position: number): Promise<void> => {
  for (let at = 0; at < bytes.length; ) {
    const { bytesWritten } = await file.write(bytes, at, bytes.length - at, position + at);
    at += bytesWritten;
  }
};

/** What a file needs. */
interface FileParts {
  readonly path: string;
  readonly open: OpenFile;
  /** Called once, when the file can't be written any more: with the system's code, such as `ENOSPC`. */
  readonly onFailure: (code: string) => void;
}

const codeOf = (error: unknown): string =>
  error instanceof Error && "code" in error ? String(error.code) : "unknown";

/**
 * The WAV of a live call: the callee left, the application right. Samples stand in a ring until they are written, and the head
 * is written after them, so that it never promises more than there is.
 */
export class RecordingFile {
  readonly #parts: FileParts;
  readonly #ring = new Int16Array(2 * capacity);
  #file: WrittenFile | undefined;
  /** Up to where samples were added, taken out of the ring, and written: in samples since the answer. */
  #added = 0;
  #taken = 0;
  #written = 0;
  #isOver = false;
  #hasFailed = false;
  #writing: Promise<void> | undefined;

  constructor(parts: FileParts) {
    this.#parts = parts;
  }

  /** How many bytes the file has. */
  get bytes(): number {
    return this.#written === 0 ? 0 : wavHeadSize + frameSize * this.#written;
  }

  /**
   * Adds samples of one side, at the rate of a telephone.
   *
   * @param from - in samples since the answer
   */
  add(side: Side, from: number, samples: Int16Array): void {
    if (this.#isOver) return;
    this.#advance(from + samples.length);
    // What is written already isn't changed.
    const first = Math.max(0, this.#taken - from, this.#added - capacity - from);
    for (let at = first; at < samples.length; at++) {
      this.#ring[2 * ((from + at) % capacity) + channelOf[side]] = samples[at] ?? 0;
    }
  }

  /** Writes what has settled. It never rejects. */
  flush(): Promise<void> {
    if (this.#isOver) return Promise.resolve();
    this.#writing ??= this.#write(this.#added - settling).finally(() => {
      this.#writing = undefined;
    });
    return this.#writing;
  }

  /** Writes the rest, and closes the file. It never rejects. */
  async end(): Promise<void> {
    this.#isOver = true;
    await this.#writing;
    await this.#write(this.#added);
    await this.#close();
  }

  /** Closes the file, and writes nothing more. */
  async drop(): Promise<void> {
    this.#isOver = true;
    this.#taken = this.#added;
    await this.#writing;
    await this.#close();
  }

  /** What stood in the ring a lap before is cleared. */
  #advance(end: number): void {
    for (let at = Math.max(this.#added, end - capacity); at < end; at++) {
      this.#ring.fill(0, 2 * (at % capacity), 2 * (at % capacity) + 2);
    }
    this.#added = Math.max(this.#added, end);
  }

  async #write(to: number): Promise<void> {
    // Of what the ring has lost, the file has silence: it is skipped, and reads as zeros.
    const from = Math.max(this.#taken, this.#added - capacity);
    if (to <= from || this.#hasFailed) return;
    const samples = new Int16Array(2 * (to - from));
    for (let at = from; at < to; at++) {
      const slot = 2 * (at % capacity);
      samples.set(this.#ring.subarray(slot, slot + 2), 2 * (at - from));
    }
    this.#taken = to;
    try {
      this.#file ??= await this.#parts.open(this.#parts.path, "wx", fileMode);
      await writeAll(this.#file, bytesOf(samples), wavHeadSize + frameSize * from);
      await writeAll(this.#file, wavHead(to, telephoneRate, 2), 0);
      this.#written = to;
    } catch (error) {
      this.#isOver = true;
      this.#hasFailed = true;
      await this.#close();
      this.#parts.onFailure(codeOf(error));
    }
  }

  async #close(): Promise<void> {
    const file = this.#file;
    this.#file = undefined;
    await file?.close().catch(() => {});
  }
}
