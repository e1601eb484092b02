/** The rate of telephones, in samples per second. */
const rate = 8_000;

/** The root mean square of samples. */
const loudness = (samples: Int16Array): number => {
  let sum = 0;
  for (const sample of samples) sum += sample * sample;
  return samples.length > 0 ? Math.sqrt(sum / samples.length) : 0;
};

/** Above it somebody speaks: -45 dBFS. */
const audible = 32_768 * 10 ** (-45 / 20);

export const isAudible = (samples: Int16Array): boolean => loudness(samples) > audible;

/** How alike two sounds are, from -1 to 1. */
const correlationOf = (expected: Int16Array, found: Int16Array): number => {
  let product = 0;
  let one = 0;
  let other = 0;
  for (let at = 0; at < expected.length; at++) {
    const [wanted = 0, got = 0] = [expected[at], found[at]];
    product += wanted * got;
    one += wanted * wanted;
    other += got * got;
  }
  return one > 0 && other > 0 ? product / Math.sqrt(one * other) : 0;
};

/** The samples of a packet. */
const frame = 160;

/** From which correlation on two frames are the same: a telephone's codec makes 0.999 of it. */
const same = 0.95;

/** Cuts samples into frames, from a sample on. */
export const framesOf = (samples: Int16Array, first = 0): readonly Int16Array[] =>
  Array.from({ length: Math.max(0, Math.floor((samples.length - first) / frame)) }, (_, at) =>
    samples.subarray(first + at * frame, first + (at + 1) * frame),
  );

/** Where the packets that were heard begin in the frames of a sound, in samples: its caller need not know. */
const phaseOf = (expected: Int16Array, heard: readonly Int16Array[]): number => {
  const parts = framesOf(expected);
  const loudest = parts.reduce(
    (best, part, at) => {
      const level = loudness(part);
      return at > 0 && at < parts.length - 1 && level > best.level ? { at, level } : best;
    },
    { at: 1, level: 0 },
  );
  let best = { phase: 0, correlation: -1 };
  for (let phase = 0; phase < frame; phase++) {
    const first = loudest.at * frame + phase;
    const part = expected.subarray(first, first + frame);
    for (const each of heard) {
      const correlation = correlationOf(part, each);
      if (correlation > best.correlation) best = { phase, correlation };
    }
  }
  return best.phase;
};

/** A sound that was found in what was heard. */
export interface Heard {
  /** How much of it was heard, in its order, from 0 to 1. There may be gaps in between, where a busy machine stalled. */
  readonly share: number;
  /** The first and the last frame of what was heard that belong to it. */
  readonly first: number;
  readonly last: number;
}

/** Finds a sound in what was heard, frame by frame. */
export const hear = (expected: Int16Array, heard: readonly Int16Array[]): Heard => {
  const audibleFrames = heard
    .map((samples, at) => ({ samples, at }))
    .filter(({ samples }) => isAudible(samples));
  const phase = phaseOf(
    expected,
    audibleFrames.map(({ samples }) => samples),
  );
  const wanted = framesOf(expected, phase).filter(isAudible);
  let [next, count, first, last] = [0, 0, -1, -1];
  for (const part of wanted) {
    const found = audibleFrames.findIndex(
      ({ samples }, at) => at >= next && correlationOf(part, samples) > same,
    );
    const at = audibleFrames[found]?.at;
    if (at === undefined) continue;
    next = found + 1;
    count++;
    if (first < 0) first = at;
    last = at;
  }
  return { share: wanted.length > 0 ? count / wanted.length : 0, first, last };
};

/** The samples of a piece that is looked for in a recording: 50 ms. */
const piece = 400;

/** From which correlation on a piece is the same: a recording may hold a gap within it. */
const samePiece = 0.9;

/** How much of a sound is in a recording, from 0 to 1, wherever its pieces are: where the machine stalls, what follows moves. */
export const shareOf = (expected: Int16Array, recording: Int16Array): number => {
  const pieces = Array.from({ length: Math.floor(expected.length / piece) }, (_, at) =>
    expected.subarray(at * piece, (at + 1) * piece),
  );
  const isThere = (part: Int16Array): boolean => {
    for (let at = 0; at + piece <= recording.length; at++) {
      if (correlationOf(part, recording.subarray(at, at + piece)) > samePiece) return true;
    }
    return false;
  };
  return pieces.filter(isThere).length / pieces.length;
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
