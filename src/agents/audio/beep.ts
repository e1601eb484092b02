/** The pitch of a beep, in hertz: 350 to 2200, and what μ-law moves it by. */
const lowest = 345;
const highest = 2205;

/** How much its pitch may change, and how much of the energy it has. */
const maxDeviation = 0.02;
const minPurity = 0.9;

/** Blocks of 10 ms that are a beep: those that fit in 120 ms wherever they begin. */
const blockMs = 10;
const minBlocks = 11;

/** The root mean square of samples that may be one. */
const minLevel = 100;

/**
 * The pitch of samples that are one sine, in hertz; 0 where they aren't. The pitch is found by total least
 * squares, which noise doesn't move; the purity is what a sine of this pitch has of the energy.
 */
const pitchOf = (samples: Int16Array, sampleRate: number): number => {
  const at = (index: number) => samples[index] ?? 0;
  const sums = { own: 0, both: 0, ofBoth: 0 };
  for (let index = 2; index < samples.length; index++) {
    // Of a sine, the two samples beside one are that one times twice the cosine of its angle.
    const beside = (at(index) + at(index - 2)) * Math.SQRT1_2;
    sums.own += at(index - 1) ** 2;
    sums.both += at(index - 1) * beside;
    sums.ofBoth += beside ** 2;
  }
  const difference = sums.ofBoth - sums.own;
  const cosine = (difference + Math.hypot(difference, 2 * sums.both)) / (2 * sums.both);
  const angle = Math.acos(cosine * Math.SQRT1_2 || 0);
  let energy = 0;
  let [real, imaginary] = [0, 0];
  for (let index = 0; index < samples.length; index++) {
    real += at(index) * Math.cos(angle * index);
    imaginary += at(index) * Math.sin(angle * index);
    energy += at(index) ** 2;
  }
  const { length } = samples;
  const purity = (2 * (real ** 2 + imaginary ** 2)) / (length * energy);
  const hertz = (angle * sampleRate) / (2 * Math.PI);
  const isBeep = purity >= minPurity && energy >= length * minLevel ** 2;
  return isBeep && hertz >= lowest && hertz <= highest ? hertz : 0;
};

/**
 * Finds beeps in samples as they come: one sine of 350 to 2200 Hz for at least 120 ms, steady within 2 %, with at least
 * 90 % of the energy.
 *
 * @returns takes the next samples; whether a beep sounds, has just ended in them, or neither
 */
export const createBeepDetector = (
  sampleRate: number,
): ((samples: Int16Array) => "sounds" | "ended" | undefined) => {
  const size = (sampleRate * blockMs) / 1000;
  const block = new Int16Array(size);
  let filled = 0;
  /** Blocks of the same pitch, one after the other, and the sum of their pitches. */
  let blocks = 0;
  let sum = 0;
  return (samples) => {
    let hasEnded = false;
    for (const sample of samples) {
      block[filled++] = sample;
      if (filled < size) continue;
      filled = 0;
      const hertz = pitchOf(block, sampleRate);
      const mean = sum / blocks;
      const isSame = blocks > 0 && Math.abs(hertz - mean) <= maxDeviation * mean;
      if (!isSame) {
        hasEnded ||= blocks >= minBlocks;
        blocks = sum = 0;
      }
      if (hertz > 0) {
        blocks++;
        sum += hertz;
      }
    }
    return blocks >= minBlocks ? "sounds" : hasEnded ? "ended" : undefined;
  };
};
