/** How long a key sounds, how long the pause after it is, and how long a `w` waits, in ms. */
const toneMs = 100;
const waitMs = 500;

/** Amplitudes of -9 and -7 dBm0 in 16 bits: the higher tone is the one that lines weaken. */
const low = 8040;
const high = 10_120;

/** How long a tone grows and fades, in ms: a click is no part of a key. */
const rampMs = 3;

const keys = "123A456B789C*0#D";

/** Keys as they sound on a telephone: tones and pauses of 100 ms; `w` is a pause of 500 ms. */
export const tonesOf = (pressed: string, sampleRate: number): Int16Array => {
  const perMs = sampleRate / 1000;
  const parts = [...pressed].map((key) => {
    const index = keys.indexOf(key);
    const samples = new Float64Array((index < 0 ? waitMs : 2 * toneMs) * perMs);
    const turn = (hertz: number | undefined) => (2 * Math.PI * (hertz ?? 0)) / sampleRate;
    const row = turn([697, 770, 852, 941][index >> 2]);
    const column = turn([1209, 1336, 1477, 1633][index & 3]);
    const length = index < 0 ? 0 : toneMs * perMs;
    for (let at = 0; at < length; at++) {
      const ramp = Math.min(1, at / (rampMs * perMs), (length - at) / (rampMs * perMs));
      samples[at] = ramp * (low * Math.sin(row * at) + high * Math.sin(column * at));
    }
    return samples;
  });
  return Int16Array.from(parts.flatMap((part) => [...part]));
};
