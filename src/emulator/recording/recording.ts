import { tone } from "./sound.ts";
import { Speech } from "./speech.ts";

/** Samples a second. */
export const sampleRate = 8_000;

interface Sound {
  readonly hertz: number;
  readonly from: number;
  readonly to: number;
}

/** The sample that is heard at a time, in milliseconds since the answer. */
export const sampleAt = (milliseconds: number): number =>
  Math.round((milliseconds * sampleRate) / 1000);

/**
 * What can be heard in a call: the tones that stand for people and media, and the speech of
 * applications as it came. It is mixed when somebody listens, so that a call which nobody listens to
 * costs nothing.
 */
export class Recording {
  readonly speech: Speech = new Speech();
  readonly #sounds: Sound[] = [];

  /** Adds a tone, from and to a time in milliseconds since the answer. */
  sound(hertz: number, from: number, to: number): void {
    this.#sounds.push({ hertz, from: sampleAt(from), to: sampleAt(to) });
  }

  /** A stretch of it, as 16-bit samples. */
  mix(first: number, count: number): Int16Array {
    const mixed = new Float64Array(count);
    const add = (samples: Int16Array, from: number) => {
      const start = Math.max(0, from - first);
      const end = Math.min(count, from - first + samples.length);
      for (let at = start; at < end; at++) {
        mixed[at] = (mixed[at] ?? 0) + (samples[at + first - from] ?? 0);
      }
    };
    for (const { hertz, from, to } of this.#sounds) {
      const start = Math.max(first, from);
      const end = Math.min(first + count, to);
      if (start < end) add(tone(hertz, sampleRate, start, end - start), start);
    }
    for (const { samples, from } of this.speech.pieces) add(samples, from);
    return Int16Array.from(mixed, (value) => Math.max(-32_768, Math.min(32_767, value)));
  }
}
