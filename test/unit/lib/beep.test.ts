import { expect, test } from "vitest";
import { tonesOf } from "../../../src/agents/audio/tones.ts";
import { createBeepDetector } from "../../../src/lib/beep.ts";
import { decodeMulaw, encodeMulaw } from "../../../src/lib/mulaw.ts";

/** A voice of several sines, each with its amplitude, for so many ms. */
const sines = (
  ms: number,
  parts: readonly (readonly [hertz: number, level: number])[],
  rate = 8000,
) =>
  Int16Array.from({ length: (ms * rate) / 1000 }, (_, at) =>
    parts.reduce(
      (sum, [hertz, level]) => sum + level * Math.sin((2 * Math.PI * hertz * at) / rate),
      0,
    ),
  );

const beep = (hertz: number, ms: number, level = 6_000, rate = 8000) =>
  sines(ms, [[hertz, level]], rate);

/** A sine that rises from one pitch to another. */
const sweep = (from: number, to: number, ms: number) => {
  let phase = 0;
  return Int16Array.from({ length: ms * 8 }, (_, at) => {
    phase += (2 * Math.PI * (from + ((to - from) * at) / (ms * 8))) / 8000;
    return 6_000 * Math.sin(phase);
  });
};

/** Noise of a seed, with a root mean square. */
const noise = (samples: Int16Array, level: number) => {
  let state = 1;
  return samples.map((sample) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) | 0;
    return sample + (state / 2 ** 31) * level * Math.sqrt(3);
  });
};

/** How many beeps end in what came through μ-law, in frames of 20 ms from some sample on. */
const beepsIn = (samples: Int16Array, rate = 8000, shift = 0): number => {
  const detect = createBeepDetector(rate);
  const all = new Int16Array(samples.length + shift + rate / 5);
  all.set(decodeMulaw(encodeMulaw(samples)), shift);
  let count = 0;
  for (let at = 0; at < all.length; at += rate / 50) {
    if (detect(all.subarray(at, at + rate / 50)) === "ended") count++;
  }
  return count;
};

test.each([8000, 16_000])(
  "a beep of 120 ms or more ends once, wherever it begins, at %i Hz",
  (rate) => {
    for (const hertz of [350, 425, 440, 800, 1000, 1400, 2000, 2190]) {
      for (const ms of [120, 500, 2_000]) {
        for (const shift of [0, 13, 40, 79]) {
          const found = beepsIn(beep(hertz, ms, 6_000, rate), rate, shift);
          expect([hertz, ms, shift, found]).toEqual([hertz, ms, shift, 1]);
        }
      }
    }
  },
);

test("it is found in noise of 16 dB less, and as softly as -45 dBFS", () => {
  expect(beepsIn(noise(beep(1000, 400), 670))).toBe(1);
  expect(beepsIn(beep(1000, 400, 260))).toBe(1);
});

test.each<[string, Int16Array]>([
  ["100 ms", beep(1000, 100)],
  ["a hum of 300 Hz", beep(300, 1_000)],
  ["a whistle of 2300 Hz", beep(2300, 1_000)],
  ["noise of 6 dB less", noise(beep(1000, 400), 2_120)],
  ["a pitch that rises", sweep(600, 1_200, 600)],
  ["keys", tonesOf("1590*#", 8000)],
  [
    "a telephone that rings, 440 and 480 Hz",
    sines(2_000, [
      [440, 4_000],
      [480, 4_000],
    ]),
  ],
  [
    "a busy line, 480 and 620 Hz",
    sines(500, [
      [480, 4_000],
      [620, 4_000],
    ]),
  ],
  [
    "a vowel",
    sines(900, [
      [200, 2_000],
      [400, 3_000],
      [600, 2_500],
      [800, 1_500],
      [1000, 700],
    ]),
  ],
  [
    "a vowel of a child",
    sines(900, [
      [400, 5_000],
      [800, 2_000],
      [1200, 1_000],
    ]),
  ],
  ["silence", new Int16Array(8_000)],
])("no beep: %s", (_, samples) => {
  expect(beepsIn(samples)).toBe(0);
});
