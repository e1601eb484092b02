import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Resampler } from "../../../src/lib/resample.ts";

const loudness = 30_000;

const tone = (hertz: number, rate: number, seconds = 1): Int16Array =>
  Int16Array.from({ length: rate * seconds }, (_, at) =>
    Math.round(loudness * Math.sin((2 * Math.PI * hertz * at) / rate)),
  );

/** Half a second from the middle: the filter's own beginning is left out. */
const middle = (samples: Int16Array, rate: number) => samples.subarray(rate / 10, (rate * 6) / 10);

/** How loud a frequency is, in dB beside the tone: by Fourier, in Hann's window. */
const level = (samples: Int16Array, hertz: number, rate: number): number => {
  let [real, imaginary] = [0, 0];
  samples.forEach((sample, at) => {
    const window = 1 - Math.cos((2 * Math.PI * at) / samples.length);
    real += sample * window * Math.cos((2 * Math.PI * hertz * at) / rate);
    imaginary += sample * window * Math.sin((2 * Math.PI * hertz * at) / rate);
  });
  return 20 * Math.log10((2 * Math.hypot(real, imaginary)) / samples.length / loudness);
};

const heard = (hertz: number, from: number, to: number): Int16Array =>
  middle(new Resampler(from, to).push(tone(hertz, from)), to);

const range = (from: number, to: number, step: number) =>
  Array.from({ length: Math.floor((to - from) / step) + 1 }, (_, at) => from + at * step);

const pairs = [
  [8_000, 16_000],
  [16_000, 8_000],
  [8_000, 24_000],
  [24_000, 8_000],
  [16_000, 24_000],
  [24_000, 16_000],
] as const;

describe.each(pairs)("from %i to %i", (from, to) => {
  const scale = Math.min(from, to) / 8_000; // 3.4 and 4.6 kHz of 8, twice that of 16.

  test("every tone up to 3.4 kHz stays within 0.2 dB", () => {
    const levels = range(100, 3_400 * scale, 100).map((hertz) =>
      level(heard(hertz, from, to), hertz, to),
    );
    expect(Math.max(...levels.map(Math.abs))).toBeLessThan(0.2);
  });

  test("images and aliases from 4.6 kHz are 70 dB down", () => {
    const edge = 4_600 * scale;
    const images = range(100, 3_400 * scale, 100).flatMap((hertz) =>
      [from - hertz, from + hertz]
        .filter((image) => image >= edge && image < to / 2)
        .map((image) => level(heard(hertz, from, to), image, to)),
    );
    const aliases = range(edge, from / 2 - 100, 100).map((hertz) => {
      const folded = hertz % to > to / 2 ? to - (hertz % to) : hertz % to;
      return level(heard(hertz, from, to), folded, to);
    });
    const found = from < to ? images : aliases;
    expect(found.length).toBeGreaterThan(10);
    expect(Math.max(...found)).toBeLessThan(-70);
  });

  test("a tone of 1 kHz has a signal-to-noise ratio of 80 dB", () => {
    const samples = heard(1_000, from, to);
    const of = (wave: (angle: number) => number) =>
      samples.reduce((sum, each, at) => sum + each * wave((2 * Math.PI * 1_000 * at) / to), 0) *
      (2 / samples.length);
    const [real, imaginary] = [of(Math.cos), of(Math.sin)];
    let [signal, noise] = [0, 0];
    samples.forEach((each, at) => {
      const angle = (2 * Math.PI * 1_000 * at) / to;
      const clean = real * Math.cos(angle) + imaginary * Math.sin(angle);
      signal += clean ** 2;
      noise += (each - clean) ** 2;
    });
    expect(10 * Math.log10(signal / noise)).toBeGreaterThan(80);
  });

  test("a level stays what it was, and nothing runs over", () => {
    for (const level of [-32_768, -1, 0, 1, 20_000, 32_767]) {
      const samples = new Resampler(from, to).push(new Int16Array(from / 10).fill(level));
      expect(new Set(samples.subarray(to / 100))).toEqual(new Set([level]));
    }
    const square = Int16Array.from({ length: from }, (_, at) => (at % 16 < 8 ? 32_767 : -32_768));
    const samples = new Resampler(from, to).push(square);
    const jump = samples.findIndex(
      (each, at) => Math.abs(each - (samples[at - 1] ?? each)) > 65_000,
    );
    expect(jump).toBe(-1);
  });

  test("it is at most 2 ms late, and flush gives what it holds", () => {
    const click = new Int16Array(from / 10);
    click[0] = 32_000;
    const resampler = new Resampler(from, to);
    const samples = [...resampler.push(click), ...resampler.flush()];
    const peak = samples.indexOf(Math.max(...samples));
    expect(peak / to).toBeLessThanOrEqual(0.002);
    const missing = (click.length / from) * to + peak - samples.length;
    expect(Math.abs(missing)).toBeLessThanOrEqual(2);
    expect(resampler.push(click)).toEqual(new Resampler(from, to).push(click));
  });
});

const all: readonly (readonly [from: number, to: number])[] = [
  ...pairs,
  [22_050, 8_000],
  [44_100, 16_000],
  [8_000, 48_000],
];

/** As bytes, which are compared a hundred times faster than samples. */
const bytesOf = (pieces: readonly Int16Array[]): Buffer =>
  Buffer.concat(
    pieces.map(({ buffer, byteOffset, byteLength }) => Buffer.from(buffer, byteOffset, byteLength)),
  );

test.each(all)("from %i to %i the same bits come for 1,000 ways of cutting", (from, to) => {
  let seed = 7;
  const noise = Int16Array.from({ length: 600 }, () => {
    seed = (seed * 48_271) % 2_147_483_647;
    return (seed % 65_536) - 32_768;
  });
  const bits = bytesOf([new Resampler(from, to).push(noise)]);
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 600 }), { maxLength: 20 }), (cuts) => {
      const resampler = new Resampler(from, to);
      const places = [0, ...cuts.toSorted((one, other) => one - other), 600];
      const pieces = places.map((place, at) => noise.subarray(places[at - 1] ?? 0, place));
      expect(bytesOf(pieces.map((piece) => resampler.push(piece))).equals(bits)).toBe(true);
    }),
    { numRuns: 1_000 },
  );
});
