import type { Cut, Mixing, Recording, Voice } from "./recording.ts";
import { bytesOf } from "./sound.ts";
import { sampleAt } from "./track.ts";
import { wavHead } from "./wav.ts";

/** A message of an application that the callee heard, wholly or in part. */
export interface HeardPiece {
  /** The name that the application gave it. */
  readonly chunk_id?: string | number;
  /** Where it begins, in milliseconds since the answer; exact to the sample. */
  readonly from_ms: number;
  /** Where it ends, in milliseconds since the answer. */
  readonly to_ms: number;
  /** How many of its samples were played. */
  readonly samples: number;
  /** How many samples it had. */
  readonly of: number;
  /** The rate of its stream, in samples a second. */
  readonly sample_rate: number;
  /** `"cut"` by a `clear`, an `interrupt` or the end of the stream; `"playing"` while it goes on. */
  readonly end: "played" | "cut" | "playing";
}

/**
 * What was heard in a call up to the moment in which it was asked for: the truth that an agent's own
 * reckoning is measured against. Everything counts, whether it is to be recorded or not.
 */
export interface CallAudio {
  /** Milliseconds from the answer to that moment, or to the end of the call. */
  readonly ms: number;
  /** The highest rate of the call's streams, in samples a second. */
  readonly sample_rate: number;
  /** What applications said and the callee heard, in order. Ten minutes of a call are kept. */
  readonly heard: readonly HeardPiece[];
  /** What applications threw away, in order; the first 1 000. */
  readonly cuts: readonly Cut[];
  /** One voice from the answer on, as 16-bit samples at `sample_rate`. */
  readonly samples: (voice: Voice) => Int16Array;
  /**
   * How loud one voice is over time: the greatest amplitude of each piece, from 0 to 1.
   *
   * @param every - the length of a piece in milliseconds; 20 unless told otherwise
   */
  readonly peaks: (voice: Voice, every?: number) => readonly number[];
  /** Both voices as a stereo WAV: the callee left, the application right. */
  readonly wav: () => Uint8Array<ArrayBuffer>;
}

/** Samples that are mixed at once where the whole of it isn't wanted. */
const block = 16_000;

const heardIn = (recording: Recording, now: number): readonly HeardPiece[] =>
  recording.playouts.flatMap((playout) => {
    const { sampleRate: sample_rate } = playout;
    const ms = (samples: number) => (samples * 1000) / sample_rate;
    return playout
      .heard(sampleAt(now, sample_rate))
      .map(({ chunk_id, from, samples: { length: samples }, of, end }) => ({
        ...(chunk_id !== undefined && { chunk_id }),
        from_ms: ms(from),
        to_ms: ms(from + samples),
        samples,
        of,
        sample_rate,
        end,
      }));
  });

/** What was measured last, and of what: whoever draws a voice asks for it again and again. */
interface Peaks {
  readonly of: string;
  readonly peaks: readonly number[];
}

const peaksOf = /* @__PURE__ */ new WeakMap<Recording, Map<Voice, Peaks>>();

/** @param size - the samples that one peak stands for */
const peaksIn = (
  count: number,
  size: number,
  voice: (first: number, count: number) => Int16Array,
): readonly number[] => {
  const peaks = new Array<number>(Math.ceil(count / size)).fill(0);
  for (let first = 0; first < count; first += block) {
    const samples = voice(first, Math.min(block, count - first));
    for (let at = 0; at < samples.length; at++) {
      const piece = Math.floor((first + at) / size);
      const peak = Math.abs(samples[at] ?? 0) / 32_768;
      if (peak > (peaks[piece] ?? 0)) peaks[piece] = peak;
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
    heard: heardIn(recording, now),
    cuts: [...recording.cuts],
    samples: (voice) => recording.voice(voice, 0, count, mixing),
    peaks: (voice, every = 20) => {
      const kept = peaksOf.get(recording) ?? new Map<Voice, Peaks>();
      peaksOf.set(recording, kept);
      const of = [every, now, sampleRate, recording.stamp].join();
      const known = kept.get(voice);
      if (known?.of === of) return known.peaks;
      const peaks = peaksIn(count, Math.max(1, sampleAt(every, sampleRate)), (first, length) =>
        recording.voice(voice, first, length, mixing),
      );
      kept.set(voice, { of, peaks });
      return peaks;
    },
    wav: () => {
      const head = wavHead(count, sampleRate, 2);
      const sound = bytesOf(recording.stereo(0, count, mixing));
      const bytes = new Uint8Array(head.length + sound.length);
      bytes.set(head);
      bytes.set(sound, head.length);
      return bytes;
    },
  };
};
