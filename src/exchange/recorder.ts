import { mkdirSync, rmSync } from "node:fs";
import { open, stat } from "node:fs/promises";
import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { type WavSource, wavResponse } from "../emulator/recording/download.ts";
import { telephoneRate } from "../emulator/recording/recording.ts";
import { sampleAt } from "../emulator/recording/track.ts";
import { wavHead, wavHeadSize } from "../emulator/recording/wav.ts";
import { isRecord, withoutThrowing } from "../lib/check.ts";
import type { Side } from "../performer/media-socket.ts";
import type { RecordedPart } from "../server/call.ts";
import type { CallRecord } from "../server/history.ts";
import type { CallRecorder } from "./parts.ts";
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
) strict;`;

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

/** Where recordings are. */
type Place = Pick<RecorderOptions, "folder" | "db">;

const deleteRecording = ({ folder, db }: Place, id: string): void => {
  // The file is first: a row without one is found again, a file without a row is not.
  rmSync(join(folder, fileNameOf(id)), { force: true });
  db.prepare("delete from recordings where call_id = ?").run(id);
};

/** Deletes the recordings of calls, where no service runs. */
export const eraseRecordings = (place: Place, calls: readonly string[]): void => {
  place.db.exec(tables);
  for (const id of calls) deleteRecording(place, id);
};

/**
 * Records calls to files while they happen, and keeps them as long as the operator wants. A file is a WAV
 * whose head is never more than a second behind, whatever ends the process. What fails here never ends a call.
 */
export class Recorder implements CallRecorder {
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
    recorder.sweep();
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

  /** Begins to record a call, if it is to be recorded. */
  begin({ id, record }: Pick<CallRecord, "id" | "record">): void {
    if (!record || this.#live.has(id)) return;
    const { db, open: openFile = open } = this.#options;
    const fail = (code: string) => this.#emit({ type: "recording_failed", call_id: id, code });
    try {
      db.prepare(
        "insert or ignore into recordings (call_id, began_at, bytes) values (?, ?, 0)",
      ).run(id, this.#now());
    } catch {
      fail("store");
      return;
    }
    const file = new RecordingFile({
      path: this.#pathOf(id),
      open: openFile,
      onFailure: (code) => {
        fail(code);
        this.#settle(id, "failed");
      },
    });
    this.#live.set(id, file);
  }

  frame(id: string, side: Side, at: number, samples: Int16Array): void {
    this.#live.get(id)?.add(side, sampleAt(at, telephoneRate), samples);
  }

  end(id: string): void {
    this.#end(id);
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
    part: Pick<RecordedPart, "from" | "side" | "gaps"> & { readonly to?: number },
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

  erase(calls: readonly string[]): void {
    for (const id of calls) if (this.find(id)) this.#delete(id, "erased");
  }

  /** Deletes what is too old, and the oldest of what is too much. */
  sweep(): void {
    const { db, maxDays, maxBytes } = this.#options;
    const old = db
      .prepare("select call_id from recordings where ended_at < ?")
      .all(this.#now() - maxDays * day);
    for (const row of old) this.#delete(textIn(row, "call_id"), "age");
    let surplus = this.bytes - maxBytes;
    if (surplus <= 0) return;
    const query = `select call_id, bytes from recordings where ended_at is not null
      order by ended_at, call_id`;
    for (const row of db.prepare(query).all()) {
      if (surplus <= 0) return;
      surplus -= numberIn(row, "bytes");
      this.#delete(textIn(row, "call_id"), "size");
    }
  }

  /** Ends all recordings. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    await Promise.all([...this.#live.keys()].map((id) => this.#end(id)));
  }

  #now(): number {
    return (this.#options.now ?? Date.now)();
  }

  #emit(event: RecordingEvent): void {
    this.#options.onEvent?.(event);
  }

  #pathOf(id: string): string {
    return join(this.#options.folder, fileNameOf(id));
  }

  #tick(): void {
    this.flush();
    this.#ticks = (this.#ticks + 1) % sweepEvery;
    // The database may be locked: the next minute is as good.
    if (this.#ticks === 0) withoutThrowing(() => this.sweep());
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

  async #end(id: string): Promise<void> {
    const file = this.#live.get(id);
    await file?.end();
    if (file && this.#live.get(id) === file) this.#settle(id, "whole");
  }

  /** Keeps how a recording has ended. */
  #settle(id: string, end: RecordingEnd): void {
    const { bytes = 0 } = this.#live.get(id) ?? {};
    this.#live.delete(id);
    const { db } = this.#options;
    const query = "update recordings set ended_at = ?, end = ?, bytes = ? where call_id = ?";
    // A database that is locked keeps it as it is: the next start reads the file.
    withoutThrowing(() => {
      if (bytes === 0) deleteRecording(this.#options, id);
      else db.prepare(query).run(this.#now(), end, bytes, id);
    });
    this.#emit({ type: "recording_ended", call_id: id, end, bytes });
  }

  #delete(id: string, why: "age" | "size" | "erased"): void {
    const live = this.#live.get(id);
    this.#live.delete(id);
    deleteRecording(this.#options, id);
    // Where the file is being opened just now, it is made after that.
    live?.drop().then(() => rmSync(this.#pathOf(id), { force: true }));
    this.#emit({ type: "recording_deleted", call_id: id, why });
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
        deleteRecording(this.#options, id);
        continue;
      }
      const file = await open(path, "r+");
      await file.write(wavHead(samples, telephoneRate, 2), 0, wavHeadSize, 0);
      await file.close();
      const query = "update recordings set ended_at = ?, end = 'cut', bytes = ? where call_id = ?";
      const bytes = wavHeadSize + frameSize * samples;
      db.prepare(query).run(Math.round(found.mtimeMs), bytes, id);
    }
  }
}
