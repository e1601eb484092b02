import { mkdirSync } from "node:fs";
import { open, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { type WavSource, wavResponse } from "../emulator/recording/download.ts";
import { telephoneRate } from "../emulator/recording/recording.ts";
import { sampleAt } from "../emulator/recording/track.ts";
import { wavHead, wavHeadSize } from "../emulator/recording/wav.ts";
import { isRecord } from "../lib/check.ts";
import type { Side } from "../performer/media-socket.ts";
import type { RecordedPart } from "../server/call.ts";
import { frameSize, type OpenFile, RecordingFile } from "./recording-file.ts";

/** How a recording ended: `whole` with its call, `cut` with the process, `failed` when it could not be written any more. */
type RecordingEnd = "whole" | "cut" | "failed";

/** A recording, without its sound. */
export interface RecordingFacts {
  /** The call. */
  readonly id: string;
  /** Milliseconds since 1970. */
  readonly began_at: number;
  /** Absent while it continues. */
  readonly ended_at?: number;
  readonly end?: RecordingEnd;
  readonly bytes: number;
  readonly seconds: number;
}

/** What is told of recordings. It has no number. */
export type RecordingEvent =
  | {
      readonly type: "recording_ended";
      readonly call_id: string;
      readonly end: RecordingEnd;
      readonly bytes: number;
    }
  /** The file can't be written any more: with the system's code, such as `ENOSPC`. The call continues. */
  | { readonly type: "recording_failed"; readonly call_id: string; readonly code: string }
  | {
      readonly type: "recording_deleted";
      readonly call_id: string;
      readonly why: "age" | "size" | "erased";
    };

/** The recording of a live call. Its methods never throw. */
export interface LiveRecording {
  /**
   * Adds samples of one side, at 8 kHz: in any order, within a quarter of a second.
   *
   * @param from - in samples since the answer
   */
  readonly add: (side: Side, from: number, samples: Int16Array) => void;
  /** Records silence until `resume`. */
  readonly pause: () => void;
  readonly resume: () => void;
  /** Adds a person who is heard too: their number erases the recording. */
  readonly alsoOf: (number: string) => void;
  /** Writes the rest, and closes the file. */
  readonly end: () => Promise<void>;
}

/** What a recorder needs. */
export interface RecorderOptions {
  /** The folder of the files. It is made with the mode 0700 when there is none. */
  readonly folder: string;
  /** The database of the service. */
  readonly db: DatabaseSync;
  /** How long a recording is kept, in days. */
  readonly maxDays: number;
  /** How many bytes all recordings have: the oldest ones that have ended are deleted. */
  readonly maxBytes: number;
  readonly onEvent?: (event: RecordingEvent) => void;
  /**
   * Milliseconds since 1970.
   *
   * @defaultValue `Date.now`
   */
  readonly now?: () => number;
  /**
   * Opens a file.
   *
   * @defaultValue that of `node:fs/promises`
   */
  readonly open?: OpenFile;
}

/** How often files are written, in milliseconds, and after how many times what is too old or too much is deleted. */
const writeInterval = 500;
const sweepEvery = 120;

const day = 86_400_000;

const tables = `
create table if not exists recordings (
  call_id text primary key,
  began_at integer not null,
  ended_at integer,
  end text,
  bytes integer not null
) strict;
create table if not exists recorded_numbers (
  number text not null,
  call_id text not null references recordings (call_id) on delete cascade,
  primary key (number, call_id)
) strict, without rowid;
create index if not exists recorded_calls on recorded_numbers (call_id);`;

/** The name of a call's file: ids have no numbers, and whatever they have, the name is in the folder. */
const fileNameOf = (id: string): string => `${encodeURIComponent(id)}.wav`;

const samplesIn = (bytes: number): number =>
  Math.max(0, Math.floor((bytes - wavHeadSize) / frameSize));

const textIn = (row: unknown, name: string): string =>
  isRecord(row) && typeof row[name] === "string" ? row[name] : "";

const numberIn = (row: unknown, name: string): number =>
  isRecord(row) && typeof row[name] === "number" ? row[name] : 0;

const endOf = (row: unknown): RecordingEnd => {
  const text = textIn(row, "end");
  return text === "cut" || text === "failed" ? text : "whole";
};

/** Some samples of a file with two sides, as one channel or two. */
const partOf = (
  both: Int16Array,
  channels: 1 | 2,
  side: Side | undefined,
): Int16Array<ArrayBuffer> => {
  if (channels === 2) return Int16Array.from(both);
  const samples = new Int16Array(both.length / 2);
  for (let at = 0; at < samples.length; at++) {
    const [callee = 0, application = 0] = [both[2 * at], both[2 * at + 1]];
    const sum = side === "callee" ? callee : side ? application : callee + application;
    samples[at] = Math.max(-32_768, Math.min(32_767, sum));
  }
  return samples;
};

/** Reads samples of both sides; where the file has none, there is silence. */
const readFrames = async (path: string, first: number, count: number): Promise<Int16Array> => {
  const samples = new Int16Array(2 * count);
  const bytes = new Uint8Array(samples.buffer);
  const file = await open(path, "r");
  try {
    for (let at = 0; at < bytes.length; ) {
      const position = wavHeadSize + frameSize * first + at;
      const { bytesRead } = await file.read(bytes, at, bytes.length - at, position);
      if (bytesRead === 0) break;
      at += bytesRead;
    }
  } finally {
    await file.close();
  }
  return samples;
};

/**
 * Records calls to files while they happen, keeps them as long as the operator wants, and erases them by number. A file is a WAV
 * whose head is never more than a second behind, whatever ends the process.
 */
export class Recorder {
  readonly #options: RecorderOptions;
  readonly #live = new Map<string, RecordingFile>();
  readonly #timer: ReturnType<typeof setInterval>;
  #ticks = 0;

  /** Opens the recordings. Those that ended with the process before are `cut`. */
  static async open(options: RecorderOptions): Promise<Recorder> {
    mkdirSync(options.folder, { recursive: true, mode: 0o700 });
    options.db.exec(tables);
    const recorder = new Recorder(options);
    await recorder.#mend();
    await recorder.sweep();
    return recorder;
  }

  private constructor(options: RecorderOptions) {
    this.#options = options;
    this.#timer = setInterval(() => this.#tick(), writeInterval).unref();
  }

  /** How many bytes all recordings have. */
  get bytes(): number {
    const row = this.#options.db.prepare("select sum(bytes) as bytes from recordings").get();
    let bytes = numberIn(row, "bytes");
    for (const file of this.#live.values()) bytes += file.bytes;
    return bytes;
  }

  /**
   * Begins to record a call.
   *
   * @param id - the call's
   * @param numbers - those of the people who are heard: each of them erases it
   */
  begin(id: string, numbers: readonly string[]): LiveRecording {
    const { db, open: openFile = open } = this.#options;
    const { onEvent = () => {} } = this.#options;
    db.prepare("insert or ignore into recordings (call_id, began_at, bytes) values (?, ?, 0)").run(
      id,
      this.#now(),
    );
    const file = new RecordingFile({
      path: this.#pathOf(id),
      open: openFile,
      onFailure: (code) => {
        onEvent({ type: "recording_failed", call_id: id, code });
        this.#settle(id, file, "failed");
      },
    });
    this.#live.set(id, file);
    const alsoOf = (number: string): void => {
      if (this.#live.get(id) !== file) return;
      db.prepare("insert or ignore into recorded_numbers values (?, ?)").run(number, id);
    };
    for (const number of numbers) alsoOf(number);
    return {
      add: (side, from, samples) => file.add(side, from, samples),
      pause: () => file.pause(),
      resume: () => file.resume(),
      alsoOf,
      end: async () => {
        await file.end();
        this.#settle(id, file, "whole");
      },
    };
  }

  /** Writes what live calls have said, but for the latest quarter of a second. */
  async flush(): Promise<void> {
    await Promise.all([...this.#live.values()].map((file) => file.flush()));
  }

  /** A recording, if there is one. */
  find(id: string): RecordingFacts | undefined {
    const row = this.#options.db.prepare("select * from recordings where call_id = ?").get(id);
    return row && this.#factsOf(row);
  }

  /** The latest recordings, the latest first. */
  latest(limit: number): readonly RecordingFacts[] {
    const query = "select * from recordings order by began_at desc, call_id desc limit ?";
    return this.#options.db
      .prepare(query)
      .all(limit)
      .map((row) => this.#factsOf(row));
  }

  /**
   * A response with a part of a recording as a WAV, or with what a player requests of it.
   *
   * @param range - the `Range` header
   * @param channels - 1: both sides in one; 2: callee left, application right
   * @returns `undefined` when there is none
   */
  download(
    id: string,
    part: Partial<RecordedPart>,
    range: string | null,
    channels: 1 | 2,
  ): Response | undefined {
    const facts = this.find(id);
    if (!facts) return;
    const { from = 0, to = facts.seconds * 1_000, side, gaps = [] } = part;
    const start = sampleAt(from, telephoneRate);
    const samples = Math.max(0, sampleAt(to, telephoneRate) - start);
    const path = this.#pathOf(id);
    const source: WavSource = {
      head: wavHead(samples, telephoneRate, channels),
      samples,
      frame: 2 * channels,
      mix: async (first, count) => {
        const both = await readFrames(path, start + first, count);
        for (const gap of gaps) {
          const [begin, end] = [gap.from, gap.to].map(
            (ms) => 2 * Math.max(0, sampleAt(ms, telephoneRate) - start - first),
          );
          both.fill(0, begin, end);
        }
        return partOf(both, channels, side);
      },
    };
    return wavResponse(source, range);
  }

  /**
   * Deletes all recordings on which a number is heard, live ones too: such a call isn't recorded any further.
   *
   * @returns how many there were
   */
  async erase(number: string): Promise<number> {
    const rows = this.#options.db
      .prepare("select call_id from recorded_numbers where number = ?")
      .all(number);
    for (const row of rows) await this.#delete(textIn(row, "call_id"), "erased");
    return rows.length;
  }

  /** Deletes what is too old, and the oldest of what is too much. */
  async sweep(): Promise<void> {
    const { db, maxDays, maxBytes } = this.#options;
    const old = db
      .prepare("select call_id from recordings where ended_at < ?")
      .all(this.#now() - maxDays * day);
    for (const row of old) await this.#delete(textIn(row, "call_id"), "age");
    let surplus = this.bytes - maxBytes;
    const query = `select call_id, bytes from recordings where ended_at is not null
      order by ended_at, call_id`;
    for (const row of surplus > 0 ? db.prepare(query).all() : []) {
      if (surplus <= 0) break;
      surplus -= numberIn(row, "bytes");
      await this.#delete(textIn(row, "call_id"), "size");
    }
  }

  /** Ends all recordings. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    for (const [id, file] of this.#live) {
      await file.end();
      this.#settle(id, file, "whole");
    }
  }

  #now(): number {
    return (this.#options.now ?? Date.now)();
  }

  #pathOf(id: string): string {
    return join(this.#options.folder, fileNameOf(id));
  }

  #tick(): void {
    this.flush();
    this.#ticks = (this.#ticks + 1) % sweepEvery;
    // The database may be locked, or closed: the next minute is as good.
    if (this.#ticks === 0) this.sweep().catch(() => {});
  }

  #factsOf(row: unknown): RecordingFacts {
    const id = textIn(row, "call_id");
    const live = this.#live.get(id);
    const bytes = live?.bytes ?? numberIn(row, "bytes");
    return {
      id,
      began_at: numberIn(row, "began_at"),
      ...(!live && { ended_at: numberIn(row, "ended_at"), end: endOf(row) }),
      bytes,
      seconds: samplesIn(bytes) / telephoneRate,
    };
  }

  /** Keeps how a recording has ended. */
  #settle(id: string, file: RecordingFile, end: RecordingEnd): void {
    if (this.#live.get(id) !== file) return;
    this.#live.delete(id);
    const { bytes } = file;
    this.#options.db
      .prepare("update recordings set ended_at = ?, end = ?, bytes = ? where call_id = ?")
      .run(this.#now(), end, bytes, id);
    this.#options.onEvent?.({ type: "recording_ended", call_id: id, end, bytes });
  }

  async #delete(id: string, why: "age" | "size" | "erased"): Promise<void> {
    const live = this.#live.get(id);
    this.#live.delete(id);
    await live?.drop();
    // The file is first: a row without one is found again, a file without a row is not.
    await rm(this.#pathOf(id), { force: true });
    const { db, onEvent } = this.#options;
    db.prepare("delete from recorded_numbers where call_id = ?").run(id);
    db.prepare("delete from recordings where call_id = ?").run(id);
    onEvent?.({ type: "recording_deleted", call_id: id, why });
  }

  /** Ends what a killed process left: its head may be behind by what was written last. */
  async #mend(): Promise<void> {
    const { db } = this.#options;
    const rows = db.prepare("select call_id from recordings where ended_at is null").all();
    for (const row of rows) {
      const id = textIn(row, "call_id");
      const path = this.#pathOf(id);
      const found = await stat(path).catch(() => undefined);
      const samples = samplesIn(found?.size ?? 0);
      if (!found || samples === 0) {
        await this.#delete(id, "age");
        continue;
      }
      const file = await open(path, "r+");
      await file.write(wavHead(samples, telephoneRate, 2), 0, wavHeadSize, 0);
      await file.close();
      db.prepare("update recordings set ended_at = ?, end = 'cut', bytes = ? where call_id = ?").run(
        Math.round(found.mtimeMs),
        wavHeadSize + frameSize * samples,
        id,
      );
    }
  }
}
