import { describe, expect, test } from "vitest";
import { tonesOf } from "../../../src/agents/audio/tones.ts";
import { energyDetector, keyTonesOf, soundsOf } from "../../../src/testing/detector.ts";

/** Samples at 8 kHz: a tone in these stretches, silence elsewhere. */
const samplesOf = (ms: number, ...tones: readonly (readonly [from: number, to: number])[]) =>
  Int16Array.from({ length: ms * 8 }, (_, at) =>
    tones.some(([from, to]) => at >= from * 8 && at < to * 8) ? (at % 2 ? 6_000 : -6_000) : 0,
  );

const detected = (samples: Int16Array) => energyDetector.detect(samples, 8_000);

describe("the detector", () => {
  test("finds beginning and end to the sample, wherever a frame begins", () => {
    expect(detected(samplesOf(1_000, [103, 407]))).toEqual([{ from: 103, to: 407 }]);
  });

  test("a pause of less than 200 ms belongs to the speech", () => {
    expect(detected(samplesOf(1_000, [100, 200], [399, 500]))).toEqual([{ from: 100, to: 500 }]);
    expect(detected(samplesOf(1_000, [100, 200], [400, 500]))).toHaveLength(2);
  });

  test("a consonant belongs to its word: the closure before it is shorter than 100 ms", () => {
    expect(detected(samplesOf(1_000, [100, 300], [390, 410]))).toEqual([{ from: 100, to: 410 }]);
    expect(detected(samplesOf(1_000, [100, 120], [210, 400]))).toEqual([{ from: 100, to: 400 }]);
  });

  test("a pop of less than 60 ms is no speech, alone or before speech; nor is noise below -45 dBFS", () => {
    expect(detected(samplesOf(1_000, [100, 115]))).toEqual([]);
    expect(detected(samplesOf(1_000, [100, 155]))).toEqual([]);
    expect(detected(samplesOf(1_000, [100, 125], [175, 200]))).toEqual([]);
    expect(detected(samplesOf(1_000, [100, 160]))).toEqual([{ from: 100, to: 160 }]);
    expect(detected(samplesOf(1_000, [100, 125], [225, 600]))).toEqual([{ from: 225, to: 600 }]);
    expect(detected(Int16Array.from({ length: 8_000 }, (_, at) => (at % 2 ? 180 : -180)))).toEqual(
      [],
    );
  });
});

test("a sound of the caller may be as short as 20 ms", () => {
  expect(soundsOf(samplesOf(1_000, [100, 119]), 8_000)).toEqual([]);
  expect(soundsOf(samplesOf(1_000, [100, 120]), 8_000)).toEqual([{ from: 100, to: 120 }]);
});

describe("the tones of keys", () => {
  const keys = "123A456B789C*0#D";

  test.each([8_000, 16_000])("are found at %i Hz, each by its beginning and its end", (rate) => {
    const found = keyTonesOf(tonesOf(keys, rate), rate);
    expect(found).toHaveLength(keys.length);
    for (const [at, { from, to }] of found.entries()) {
      expect(Math.abs(from - 200 * at)).toBeLessThan(3);
      expect(Math.abs(to - (200 * at + 100))).toBeLessThan(3);
    }
  });

  test("are no speech: neither a tone of a scripted agent, nor words of which a part is like one", () => {
    const tone = Int16Array.from({ length: 1_600 }, (_, at) => 6_000 * Math.sin(at / 4));
    expect(keyTonesOf(tone, 8_000)).toEqual([]);
    const key = tonesOf("5", 8_000).subarray(0, 800);
    expect(keyTonesOf(Int16Array.from([...tone, ...key, ...tone]), 8_000)).toEqual([]);
  });
});
