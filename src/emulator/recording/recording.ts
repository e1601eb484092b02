import { bytesOf } from "../../lib/encoding.ts";
import type { Cut } from "../../server/history.ts";
import { Playout, type Quota, quotaRate } from "./playout.ts";
import { clip, type MixBuffer, mixPiece, sampleAt, Track } from "./track.ts";
import { wavHead } from "./wav.ts";

/** The sample rate of a recording with one channel. */
export const telephoneRate = 8_000;

/** How much audio of one call's applications is kept, in milliseconds: ten minutes. The rest is silence. */
export const maxKept: number = 10 * 60 * 1000;

/** One side of a call: the callee, or everything that is played to the callee. */
export type Side = "callee" | "application";

const maxCuts = 1_000;

/** The root mean square of samples above which somebody speaks: -45 dBFS. */
export const speechLevel: number = 32_768 * 10 ** (-45 / 20);

/** Whether somebody speaks in some samples. */
export const isLoud = (samples: Int16Array): boolean => {
  let sum = 0;
  for (const sample of samples) sum += sample * sample;
  return sum > speechLevel ** 2 * samples.length;
};

/** What is mixed: the call, or its recording. */
export interface Mixing {
  readonly sampleRate: number;
  /** The end of what has been played, in milliseconds since the answer. */
  readonly now: number;
  /** Whether parts that are not recorded are included. */
  readonly all: boolean;
  /** Where there is silence instead, in milliseconds since the answer. */
  readonly gaps?: readonly { readonly from: number; readonly to: number }[] | undefined;
}

/** Makes stretches silent, by their milliseconds since the answer. */
const clear = (
  { first, sampleRate, samples }: MixBuffer,
  stretches: readonly { readonly from: number; readonly to: number }[],
): void => {
  for (const { from, to } of stretches) {
    const [start, end] = [from, to].map((ms) => Math.max(0, sampleAt(ms, sampleRate) - first));
    samples.fill(0, start, end);
  }
};

/**
 * The audio of a call: the callee's, and everything that is played to the callee. It is mixed on demand,
 * so that a call whose audio nobody reads costs nothing.
 */
export class Recording {
  readonly callee: Track = new Track();
  /** What is played to the callee beside streams: media, and the second leg. */
  readonly media: Track = new Track();
  /** The audio of applications, one playout for each stream. */
  readonly playouts: Playout[] = [];
  readonly cuts: Cut[] = [];
  readonly #quota: Quota;
  /** When nothing is recorded, in milliseconds since the answer. */
  readonly #gaps: { readonly from: number; to: number }[] = [];

  /** When nobody hears a side, in milliseconds since the answer. */
  readonly #silences: Record<Side, { readonly from: number; to: number }[]> = {
    callee: [],
    application: [],
  };

  /** @param kept - how much of the applications' audio is kept, in milliseconds */
  constructor(kept: number = maxKept) {
    this.#quota = { left: (kept * quotaRate) / 1000 };
  }

  /** The highest sample rate of any stream. */
  get sampleRate(): number {
    return Math.max(telephoneRate, ...this.playouts.map(({ sampleRate }) => sampleRate));
  }

  /**
   * Adds the playout of a stream.
   *
   * @param quota - that of the applications' audio by default
   */
  open(sampleRate: number, quota: Quota = this.#quota): Playout {
    const playout = new Playout(sampleRate, quota);
    this.playouts.push(playout);
    return playout;
  }

  /** Plays nothing of the applications between two times, in milliseconds since the answer: it is played later. */
  hold(from: number, to: number): void {
    for (const playout of this.playouts) {
      const { sampleRate } = playout;
      playout.skip(sampleAt(from, sampleRate), sampleAt(to, sampleRate));
    }
  }

  /** Records nothing until `resume`. */
  pause(now: number): void {
    this.#gaps.push({ from: now, to: Number.POSITIVE_INFINITY });
  }

  resume(now: number): void {
    const gap = this.#gaps.at(-1);
    if (gap) gap.to = Math.min(gap.to, now);
  }

  /** Whether nothing is recorded now. */
  get isPaused(): boolean {
    return this.#gaps.at(-1)?.to === Number.POSITIVE_INFINITY;
  }

  /** Silences a side from now on, or no more. */
  silence(side: Side, isSilent: boolean, now: number): void {
    const last = this.#silences[side].at(-1);
    if (last) last.to = Math.min(last.to, now);
    if (isSilent) this.#silences[side].push({ from: now, to: Number.POSITIVE_INFINITY });
  }

  /** Whether a side is silenced. */
  isSilenced(side: Side): boolean {
    return this.#silences[side].at(-1)?.to === Number.POSITIVE_INFINITY;
  }

  cut(cut: Cut): void {
    if (this.cuts.length < maxCuts) this.cuts.push(cut);
  }

  /** A text that changes whenever the audio up to the same moment does. */
  get revision(): string {
    return [this.callee.revision, this.media.revision, this.playouts.length].join();
  }

  /** Some samples of one side. */
  side(name: Side, first: number, count: number, mixing: Mixing): Int16Array {
    return clip(this.#mix([name], first, count, mixing));
  }

  /** Whether one side speaks between two times, in milliseconds since the answer; of media and second legs too. */
  isAudible(name: Side, from: number, to: number, now: number): boolean {
    const { sampleRate } = this;
    const first = sampleAt(from, sampleRate);
    const count = sampleAt(to, sampleRate) - first;
    return isLoud(this.side(name, first, count, { sampleRate, now, all: true }));
  }

  /** Some samples of both sides in one channel. */
  mono(first: number, count: number, mixing: Mixing): Int16Array {
    return clip(this.#mix(["callee", "application"], first, count, mixing));
  }

  /** Some samples of both sides in two channels: callee left, application right. */
  stereo(first: number, count: number, mixing: Mixing): Int16Array {
    const left = this.side("callee", first, count, mixing);
    const right = this.side("application", first, count, mixing);
    const both = new Int16Array(2 * count);
    for (let at = 0; at < count; at++) {
      both[2 * at] = left[at] ?? 0;
      both[2 * at + 1] = right[at] ?? 0;
    }
    return both;
  }

  #mix(names: readonly Side[], first: number, count: number, mixing: Mixing): Float64Array {
    const { sampleRate, now, all, gaps = all ? [] : this.#gaps } = mixing;
    const buffer: MixBuffer = { first, sampleRate, samples: new Float64Array(count) };
    for (const name of names) {
      const silences = this.#silences[name];
      if (silences.length === 0) this.#mixSide(name, buffer, now);
      else {
        const own: MixBuffer = { ...buffer, samples: new Float64Array(count) };
        this.#mixSide(name, own, now);
        clear(own, silences);
        for (let at = 0; at < count; at++) {
          buffer.samples[at] = (buffer.samples[at] ?? 0) + (own.samples[at] ?? 0);
        }
      }
    }
    clear(buffer, gaps);
    return buffer.samples;
  }

  #mixSide(name: Side, buffer: MixBuffer, now: number): void {
    if (name === "callee") {
      this.callee.mixInto(buffer);
      return;
    }
    const { first, sampleRate, samples: mixed } = buffer;
    this.media.mixInto(buffer);
    for (const playout of this.playouts) {
      const rate = playout.sampleRate;
      // One sample more on either side, as positions are rounded between two sample rates.
      const start = Math.floor((first * rate) / sampleRate) - 1;
      const end = Math.ceil(((first + mixed.length) * rate) / sampleRate) + 1;
      for (const { from, samples } of playout.playedIn(start, end, sampleAt(now, rate))) {
        mixPiece(buffer, { from, samples, sampleRate: rate });
      }
    }
  }
}

/** A message of an application that was played to the callee, all of it or a part. */
export interface PlayedPiece {
  /** The application's name for it. */
  readonly chunk_id?: string | number;
  /** When it began, in milliseconds since the answer; exact to the sample. */
  readonly from_ms: number;
  /** When it ended, in milliseconds since the answer. */
  readonly to_ms: number;
  /** How many of its samples were played. */
  readonly samples: number;
  /** How many samples it had. */
  readonly total: number;
  /** The rate of its stream, in samples per second. */
  readonly sample_rate: number;
  /** `"cut"` by a `clear`, an `interrupt` or the end of the stream; `"playing"` while it continues. */
  readonly end: "played" | "cut" | "playing";
}

/**
 * The audio of a call up to the moment of the request: the truth to measure an agent against. It includes
 * parts that are not recorded.
 */
export interface CallAudio {
  /** Milliseconds from the answer to that moment, or to the end of the call. */
  readonly ms: number;
  /** The highest rate of the call's streams, in samples per second. */
  readonly sample_rate: number;
  /** What applications played to the callee, in order. Ten minutes of a call are kept. */
  readonly played: readonly PlayedPiece[];
  /** What applications dropped, in order; the first 1 000. */
  readonly cuts: readonly Cut[];
  /**
   * One side as 16-bit samples at `sample_rate`.
   *
   * @param from - in milliseconds since the answer; 0 by default
   * @param to - in milliseconds since the answer; `ms` by default, which is the end of what there is
   */
  readonly samples: (side: Side, from?: number, to?: number) => Int16Array;
  /**
   * The loudness of one side over time: the greatest amplitude of each interval, from 0 to 1.
   *
   * @param every - the length of an interval in milliseconds; 20 by default
   */
  readonly peaks: (side: Side, every?: number) => readonly number[];
  /** Both sides as a stereo WAV: callee left, application right. */
  readonly wav: () => Uint8Array<ArrayBuffer>;
}

/** How many samples are mixed at once for the peaks. */
const blockSize = 16_000;

const playedIn = (recording: Recording, now: number): readonly PlayedPiece[] =>
  recording.playouts.flatMap((playout) => {
    const { sampleRate: sample_rate } = playout;
    const ms = (samples: number) => (samples * 1000) / sample_rate;
    return playout
      .played(sampleAt(now, sample_rate))
      .map(({ chunk_id, from, samples: { length: samples }, total, end }) => ({
        ...(chunk_id !== undefined && { chunk_id }),
        from_ms: ms(from),
        to_ms: ms(from + samples),
        samples,
        total,
        sample_rate,
        end,
      }));
  });

/** The latest peaks, and what they were measured of: a page that draws them requests them repeatedly. */
interface Peaks {
  readonly of: string;
  readonly peaks: readonly number[];
}

const latestPeaks = new WeakMap<Recording, Map<Side, Peaks>>();

/** @param size - the samples of one interval */
const measurePeaks = (
  count: number,
  size: number,
  samplesOf: (first: number, count: number) => Int16Array,
): readonly number[] => {
  const peaks = new Array<number>(Math.ceil(count / size)).fill(0);
  for (let first = 0; first < count; first += blockSize) {
    const samples = samplesOf(first, Math.min(blockSize, count - first));
    for (let at = 0; at < samples.length; at++) {
      const interval = Math.floor((first + at) / size);
      const peak = Math.abs(samples[at] ?? 0) / 32_768;
      if (peak > (peaks[interval] ?? 0)) peaks[interval] = peak;
    }
  }
  return peaks;
};

/** @param now - milliseconds since the answer */
export const audioOf = (recording: Recording, now: number): CallAudio => {
  const { sampleRate } = recording;
  const count = sampleAt(now, sampleRate);
  const mixing: Mixing = { sampleRate, now, all: true };
  return {
    ms: now,
    sample_rate: sampleRate,
    played: playedIn(recording, now),
    cuts: [...recording.cuts],
    samples: (side, from = 0, to = now) => {
      const first = Math.max(0, sampleAt(from, sampleRate));
      const end = Math.min(count, sampleAt(to, sampleRate));
      return recording.side(side, first, Math.max(0, end - first), mixing);
    },
    peaks: (side, every = 20) => {
      const kept = latestPeaks.get(recording) ?? new Map<Side, Peaks>();
      latestPeaks.set(recording, kept);
      const of = [every, now, sampleRate, recording.revision].join();
      const latest = kept.get(side);
      if (latest?.of === of) return latest.peaks;
      const peaks = measurePeaks(count, Math.max(1, sampleAt(every, sampleRate)), (first, length) =>
        recording.side(side, first, length, mixing),
      );
      kept.set(side, { of, peaks });
      return peaks;
    },
    wav: () => {
      const head = wavHead(count, sampleRate, 2);
      const samples = bytesOf(recording.stereo(0, count, mixing));
      const bytes = new Uint8Array(head.length + samples.length);
      bytes.set(head);
      bytes.set(samples, head.length);
      return bytes;
    },
  };
};

const sampleRate = 8_000;

/** Milliseconds of audio that are judged at once, and mixed at once. */
const judged = 20;
const mixed = 200;

/**
 * The loud parts of a stretch of the callee's audio, each of 20 ms, by their beginning.
 *
 * @param isBackward - the last ones first
 */
function* loudIn(
  recording: Recording,
  [from, to]: readonly [from: number, to: number],
  isBackward: boolean,
): Generator<number> {
  const blocks = Math.ceil((to - from) / mixed);
  for (let count = 0; count < blocks; count++) {
    const start = from + (isBackward ? blocks - 1 - count : count) * mixed;
    const end = Math.min(to, start + mixed);
    // An hour of silence is not mixed.
    if (!recording.callee.hasAny(start, end)) continue;
    const mixing = { sampleRate, now: to, all: true };
    const perMs = sampleRate / 1_000;
    const samples = recording.side("callee", start * perMs, (end - start) * perMs, mixing);
    const parts = Math.ceil((end - start) / judged);
    for (let at = 0; at < parts; at++) {
      const part = isBackward ? parts - 1 - at : at;
      const first = part * judged * perMs;
      if (isLoud(samples.subarray(first, first + judged * perMs))) yield start + part * judged;
    }
  }
}

/** When the callee was audible first in a stretch, in milliseconds since the answer; `undefined` where it is silent. */
export const firstLoud = (recording: Recording, from: number, to: number): number | undefined => {
  const { value } = loudIn(recording, [from, to], false).next();
  return value ?? undefined;
};

/** When the callee was audible last in a stretch, in milliseconds since the answer; `undefined` where it is silent. */
export const lastLoud = (recording: Recording, from: number, to: number): number | undefined => {
  const { value } = loudIn(recording, [Math.floor(from), Math.floor(to)], true).next();
  return value === undefined ? undefined : Math.min(to, value + judged);
};
