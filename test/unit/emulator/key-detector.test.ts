import { expect, test } from "vitest";
import { tonesOf } from "../../../src/agents/audio/tones.ts";
import { createKeyDetector } from "../../../src/emulator/pressed-keys.ts";
import { decodeMulaw, encodeMulaw } from "../../../src/lib/mulaw.ts";

const rate = 8000;
const all = "123A456B789C*0#D";
const pairs = [697, 770, 852, 941].flatMap((low) =>
  [1209, 1336, 1477, 1633].map((high) => [low, high] as const),
);

/** What a telephone's keys may be like. */
interface Tone {
  readonly ms?: number;
  readonly off?: number;
  /** How far the row alone is off. */
  readonly offRow?: number;
  readonly low?: number;
  readonly high?: number;
}

const dBm0 = (level: number) => 22_656 * 10 ** (level / 20);

const silence = (ms: number) => new Int16Array((ms * rate) / 1000);

const toneOf = (
  key: string,
  { ms = 100, off = 0, offRow = off, low = -9, high = -7 }: Tone = {},
): Int16Array => {
  const [row = 0, column = 0] = pairs[all.indexOf(key)] ?? [];
  const angle = (hertz: number, by: number) => (2 * Math.PI * hertz * (1 + by)) / rate;
  return Int16Array.from(
    { length: (ms * rate) / 1000 },
    (_, at) =>
      dBm0(low) * Math.sin(angle(row, offRow) * at) +
      dBm0(high) * Math.sin(angle(column, off) * at),
  );
};

const joined = (...parts: readonly Int16Array[]) =>
  Int16Array.from(parts.flatMap((part) => [...part]));

/** The keys in samples that went through μ-law, in frames of 20 ms. */
const heard = (...parts: readonly Int16Array[]): string => {
  const detector = createKeyDetector(rate);
  const samples = decodeMulaw(encodeMulaw(joined(silence(37), ...parts, silence(100))));
  let keys = "";
  for (let at = 0; at < samples.length; at += 160) {
    keys += detector.push(samples.subarray(at, at + 160)).join("");
  }
  return keys;
};

const eachKey = (tone: Tone, pause = 100) =>
  heard(...[...all].flatMap((key) => [toneOf(key, tone), silence(pause)]));

test.each<[string, Tone, number]>([
  ["100 ms and 100 ms", {}, 100],
  ["40 ms and 40 ms", { ms: 40 }, 40],
  ["a frequency 1.8 % too high", { off: 0.018 }, 100],
  ["a frequency 1.8 % too low", { off: -0.018 }, 100],
  ["-25 dBm0", { low: -25, high: -25 }, 100],
  ["0 dBm0", { low: -3, high: -3 }, 100],
  ["a column 4 dB louder", { low: -12, high: -8 }, 100],
  ["a row 8 dB louder", { low: -8, high: -16 }, 100],
])("all 16 keys are heard through μ-law: %s", (_, tone, pause) => {
  expect(eachKey(tone, pause)).toBe(all);
});

test.each<[string, Tone]>([
  ["20 ms", { ms: 20 }],
  ["a frequency 3 % too high", { off: 0.03 }],
  ["a frequency 3 % too low", { off: -0.03 }],
  ["a row 3 % too high", { offRow: 0.03 }],
  ["-32 dBm0", { low: -32, high: -32 }],
  ["a column 8 dB louder", { low: -15, high: -7 }],
  ["a row 12 dB louder", { low: -7, high: -19 }],
])("no key is heard: %s", (_, tone) => {
  expect(eachKey(tone)).toBe("");
});

test("a key that is held is one key; an interruption of 10 ms doesn't end it, a pause of 40 ms does", () => {
  expect(heard(toneOf("5", { ms: 1_000 }))).toBe("5");
  expect(heard(toneOf("5", { ms: 50 }), silence(10), toneOf("5", { ms: 50 }))).toBe("5");
  expect(heard(toneOf("5", { ms: 50 }), silence(40), toneOf("5", { ms: 50 }))).toBe("55");
  expect(heard(toneOf("5", { ms: 50 }), toneOf("6", { ms: 50 }))).toBe("56");
});

test("what pressKeys sends has the levels -9 and -7 dBm0, 100 ms and 100 ms, and w waits 500 ms", () => {
  const samples = tonesOf("1w", rate);
  expect(samples).toHaveLength((200 + 500) * 8);
  expect(samples.slice(800).every((sample) => sample === 0)).toBe(true);
  const level = (hertz: number) => {
    let [real, imaginary] = [0, 0];
    const middle = samples.subarray(160, 720);
    for (const [at, sample] of middle.entries()) {
      real += sample * Math.cos((2 * Math.PI * hertz * at) / rate);
      imaginary += sample * Math.sin((2 * Math.PI * hertz * at) / rate);
    }
    return 20 * Math.log10((2 * Math.hypot(real, imaginary)) / middle.length / 22_656);
  };
  expect(Math.abs(level(697) + 9)).toBeLessThan(0.2);
  expect(Math.abs(level(1209) + 7)).toBeLessThan(0.2);
  expect(heard(tonesOf(`${all}w1`, rate))).toBe(`${all}1`);
});
