import { voice } from "../../../conformance/models/voice.ts";
import { randomOf } from "../../../random.ts";

const rate = 8000;

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
