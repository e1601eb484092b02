import type { Packet } from "./rtp.ts";

/** The rate of telephones, in samples per second. */
const rate = 8_000;

/** How far apart packets may arrive that belong together, in milliseconds: an ear's telephone evens that out. */
const together = 60;

/** What was heard, as samples: packets are placed by their arrival, from a time on. */
export const heard = (packets: readonly Packet[], from: number): Int16Array => {
  const last = packets.at(-1);
  if (!last) return new Int16Array();
  const size = Math.ceil(((last.at - from) * rate) / 1_000) + last.samples.length;
  const samples = new Int16Array(Math.max(0, size) + (together * rate) / 1_000);
  let next = 0;
  for (const packet of packets) {
    const arrived = Math.round(((packet.at - from) * rate) / 1_000);
    const isNext = next > 0 && arrived - next < (together * rate) / 1_000;
    const first = Math.max(0, isNext ? next : Math.max(next, arrived));
    samples.set(packet.samples.subarray(0, Math.max(0, samples.length - first)), first);
    next = first + packet.samples.length;
  }
  return samples;
};

/** The root mean square of samples. */
export const loudness = (samples: Int16Array): number => {
  let sum = 0;
  for (const sample of samples) sum += sample * sample;
  return samples.length > 0 ? Math.sqrt(sum / samples.length) : 0;
};

/** Above it somebody speaks: -45 dBFS. */
const audible = 32_768 * 10 ** (-45 / 20);

export const isAudible = (samples: Int16Array): boolean => loudness(samples) > audible;

/** How alike two sounds are, from -1 to 1, one of them from a sample on. */
const correlationAt = (
  expected: Int16Array,
  samples: Int16Array,
  first: number,
  count: number,
): number => {
  let product = 0;
  let one = 0;
  let other = 0;
  for (let at = 0; at < count; at++) {
    const [wanted = 0, found = 0] = [expected[at], samples[first + at]];
    product += wanted * found;
    one += wanted * wanted;
    other += found * found;
  }
  return one > 0 && other > 0 ? product / Math.sqrt(one * other) : 0;
};

/** A sound that was found in another. */
export interface Found {
  /** Where it begins, in milliseconds. */
  readonly at: number;
  /** How alike the two are: 1 is the same. */
  readonly correlation: number;
}

/** How much of a sound is compared to find where it is: 300 ms. */
const sought = 0.3 * rate;

/** Finds where a sound is most alike in what was heard. */
export const find = (expected: Int16Array, samples: Int16Array): Found => {
  // From the loudest part on, as silence is everywhere.
  let start = 0;
  let best = 0;
  for (let at = 0; at + sought <= expected.length; at += sought / 2) {
    const level = loudness(expected.subarray(at, at + sought));
    if (level > best) [best, start] = [level, at];
  }
  const part = expected.subarray(start, start + sought);
  let found = { first: 0, correlation: -1 };
  for (let first = 0; first + part.length <= samples.length; first++) {
    const correlation = correlationAt(part, samples, first, part.length);
    if (correlation > found.correlation) found = { first, correlation };
  }
  const first = found.first - start;
  const count = Math.min(expected.length, samples.length - first);
  return {
    at: (first * 1_000) / rate,
    correlation: correlationAt(expected, samples, first, count),
  };
};

/** The amplitude of a frequency in samples, from 0 to 1. */
export const amplitudeOf = (hertz: number, samples: Int16Array): number => {
  let [real, imaginary] = [0, 0];
  for (let at = 0; at < samples.length; at++) {
    const angle = (2 * Math.PI * hertz * at) / rate;
    real += (samples[at] ?? 0) * Math.cos(angle);
    imaginary += (samples[at] ?? 0) * Math.sin(angle);
  }
  return (2 * Math.hypot(real, imaginary)) / samples.length / 32_768;
};

/** A tone, as samples. */
export const tone = (hertz: number, ms: number, amplitude = 0.3): Int16Array =>
  Int16Array.from(
    { length: (ms * rate) / 1_000 },
    (_, at) => amplitude * 32_767 * Math.sin((2 * Math.PI * hertz * at) / rate),
  );

/** A sound that is like no other: a seeded noise that swells as speech does. */
export const voice = (seed: number, ms: number): Int16Array => {
  let state = seed;
  let smooth = 0;
  return Int16Array.from({ length: (ms * rate) / 1_000 }, (_, at) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0;
    smooth = 0.7 * smooth + 0.3 * (state / 2 ** 31);
    return 20_000 * smooth * (0.6 + 0.4 * Math.sin(at / 700));
  });
};
