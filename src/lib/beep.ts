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

/** Blocks whose common level is compared: it doesn't move where two tones beat at 40 Hz, as 440 and 480 Hz do. */
const windowBlocks = 5;

/** The fewest windows of a sound whose beginning wasn't heard: a syllable may be as steady for less than 160 ms. */
const minWindows = 12;

/** How much the level of a machine's sound may vary, as a part of its mean, and how many of its blocks may be no sine. */
const maxVariation = 0.1;
const minPure = 0.6;

/** Samples as one sine. */
interface Sine {
  readonly hertz: number;
  /** What it has of the energy, from 0 to 1. */
  readonly purity: number;
  /** The mean of the squares of the samples. */
  readonly power: number;
}

/** The sine that samples are nearest to. Its pitch is found by total least squares, which noise doesn't move. */
const sineOf = (samples: Int16Array, sampleRate: number): Sine => {
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
  return {
    hertz: (angle * sampleRate) / (2 * Math.PI),
    purity: (2 * (real ** 2 + imaginary ** 2)) / (length * energy),
    power: energy / length,
  };
};

/** The pitch of samples that may be a beep, in hertz; 0 of others. */
const pitchOf = (samples: Int16Array, sampleRate: number): number => {
  const { hertz, purity, power } = sineOf(samples, sampleRate);
  const isBeep = purity >= minPurity && power >= minLevel ** 2;
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

/** Whether a sound is a machine's, as far as it has come. */
export interface Steadiness {
  /** Takes samples from its middle, of whole blocks of 10 ms; whether something else came between the last ones and these. */
  readonly push: (samples: Int16Array, isApart: boolean) => void;
  /** @param isWhole - whether it was heard from its beginning */
  readonly isSteady: (isWhole: boolean) => boolean;
}

/**
 * Finds out whether a sound is a machine's: its level never moves, which no voice keeps up, or it is one sine at any
 * time, which may glide or fade.
 */
export const createSteadiness = (sampleRate: number): Steadiness => {
  const size = (sampleRate * blockMs) / 1000;
  let powers: number[] = [];
  let [blocks, pure, count, sum, squares] = [0, 0, 0, 0, 0];
  return {
    push: (samples, isApart) => {
      if (isApart) powers = [];
      for (let at = 0; at + size <= samples.length; at += size) {
        const { purity, power } = sineOf(samples.subarray(at, at + size), sampleRate);
        blocks++;
        if (purity >= minPurity) pure++;
        powers = [...powers, power].slice(-windowBlocks);
        if (powers.length < windowBlocks) continue;
        const mean = powers.reduce((total, each) => total + each) / windowBlocks;
        count++;
        sum += Math.sqrt(mean);
        squares += mean;
      }
    },
    isSteady: (isWhole) => {
      const isLevel = squares * count <= (1 + maxVariation ** 2) * sum ** 2;
      const isLong = isWhole || count >= minWindows;
      return count > 0 && ((isLevel && isLong) || pure >= minPure * blocks);
    },
  };
};
