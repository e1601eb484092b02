/** Greetings as a seed has them. */
const rate = 8000;

/** Numbers from 0 to 1 that are the same for the same seed: mulberry32. */
export const randomOf = (seed: number): (() => number) => {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
};

/** A voice: harmonics of a pitch that wavers, in syllables. */
export const voice = (ms: number, random: () => number): Int16Array<ArrayBuffer> => {
  const pitch = 100 + 120 * random();
  let phase = 0;
  return Int16Array.from({ length: ms * 8 }, (_, at) => {
    const seconds = at / rate;
    phase += (2 * Math.PI * pitch * (1 + 0.06 * Math.sin(11 * seconds))) / rate;
    const syllable = 0.6 + 0.4 * Math.sin(2 * Math.PI * 4.3 * seconds);
    let sum = 0;
    for (const [index, level] of [1, 0.9, 0.7, 0.8, 0.5, 0.3, 0.2].entries()) {
      sum += level * Math.sin(phase * (index + 1));
    }
    return 2_200 * syllable * sum;
  });
};

export const sine = (hertz: number, ms: number): Int16Array<ArrayBuffer> =>
  Int16Array.from(
    { length: ms * 8 },
    (_, at) => 7_000 * Math.sin((2 * Math.PI * hertz * at) / rate),
  );

export const silence = (ms: number): Int16Array<ArrayBuffer> => new Int16Array(ms * 8);

export const joined = (parts: readonly Int16Array[]): Int16Array<ArrayBuffer> => {
  const all = new Int16Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
};

/** What answers, and when its last sound ends, in ms. */
export interface Greeting {
  readonly samples: Int16Array<ArrayBuffer>;
  readonly endsAt: number;
  readonly beeps: boolean;
}

/** A machine's greeting of 2 to 25 s, with pauses of up to 2 s, and four of five with a beep 200 to 2000 ms after it. */
export const greetingOf = (seed: number): Greeting => {
  const random = randomOf(seed);
  const whole = (from: number, to: number) => Math.round(from + random() * (to - from));
  const length = whole(2_000, 25_000);
  const parts = [voice(Math.min(length, whole(1_300, 5_000)), random)];
  const ms = () => parts.reduce((sum, part) => sum + part.length / 8, 0);
  while (ms() < length - 2_400) {
    parts.push(silence(whole(100, 2_000)), voice(whole(400, 4_000), random));
  }
  const beeps = random() < 0.8;
  if (beeps) parts.push(silence(whole(200, 2_000)), sine(whole(400, 2_000), whole(200, 900)));
  return { samples: joined(parts), endsAt: ms(), beeps };
};
