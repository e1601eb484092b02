/** Returns the next number, from 0 up to but not including 1. */
export type Random = () => number;

/**
 * A source of numbers for ids and jitter, never for secrets: the published generator sfc32. The same seed
 * gives the same sequence.
 */
export const randomSource = (seed?: number): Random => {
  let [a = 0, b = 0, c = 0, counter = 1] =
    seed === undefined ? crypto.getRandomValues(new Uint32Array(4)) : [seed, seed / 2 ** 32, 0, 1];
  const next = () => {
    const sum = (a + b + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (((c << 21) | (c >>> 11)) + sum) | 0;
    return (sum >>> 0) / 2 ** 32;
  };
  for (let warmUp = 0; warmUp < 12; warmUp++) next();
  return next;
};

const digits = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

const crockford = (value: number, length: number): string => {
  let text = "";
  for (let rest = value; text.length < length; rest = Math.floor(rest / 32)) {
    text = digits.charAt(rest % 32) + text;
  }
  return text;
};

/** A ULID: 10 characters of time and 16 random ones, so that ids sort by the time they were made. */
export const ulid = (time: number, random: Random): string => {
  const chance = () => crockford(Math.floor(random() * 2 ** 20), 4);
  return crockford(time, 10) + chance() + chance() + chance() + chance();
};

/** The same 128 bits as 32 hexadecimal digits. */
export const hexUlid = (time: number, random: Random): string => {
  const chance = () =>
    Math.floor(random() * 2 ** 20)
      .toString(16)
      .padStart(5, "0");
  return time.toString(16).padStart(12, "0") + chance() + chance() + chance() + chance();
};

/** Makes a new id, at a time in milliseconds since 1970. */
export type NewId = (time: number) => string;

/**
 * Makes ids. With a seed they are the same on every run: a counter takes the place of the time, so that
 * they still sort.
 */
export const idSource = (random: Random, isSeeded: boolean, make: typeof ulid = ulid): NewId => {
  let count = 0;
  return (time) => make(isSeeded ? count++ : time, random);
};

/** A UUID of 32 hexadecimal digits. */
export const uuidOf = (hex: string): string =>
  hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
