import { randomOf } from "../../../random.ts";

const turn = 2 * Math.PI;

/** A sine whose pitch changes: the pitch at so many seconds of a sound of so many. */
const sliding =
  (pitch: (seconds: number, length: number) => number) =>
  (length: number): ((seconds: number) => number) => {
    let phase = 0;
    return (seconds) => {
      phase += (turn * pitch(seconds, length)) / 8_000;
      return Math.sin(phase);
    };
  };
const sines =
  (...hertz: readonly number[]) =>
  () =>
  (seconds: number) =>
    hertz.reduce((sum, each) => sum + Math.sin(turn * each * seconds), 0);

/** What voicemails beep with, beside one steady sine of 350 to 2200 Hz: a wave by its length and a seed. */
export const kinds = {
  "440 and 480 Hz": sines(440, 480),
  "697 and 1209 Hz": sines(697, 1_209),
  "1000 and 2000 Hz": sines(1_000, 2_000),
  "three tones": sines(480, 620, 1_400),
  "vibrato of 5 %": sliding((seconds) => 1_000 * (1 + 0.05 * Math.sin(turn * 6 * seconds))),
  "a sweep up": sliding((seconds, length) => 600 + (600 * seconds) / length),
  "a sweep down": sliding((seconds, length) => 2_000 - (1_400 * seconds) / length),
  "300 Hz": sines(300),
  "2400 Hz": sines(2_400),
  "two tones in turn": sliding((seconds) => (seconds % 0.2 < 0.1 ? 800 : 1_200)),
  "a bell": (length: number) => (seconds: number) =>
    Math.exp((-3 * seconds) / length) * Math.sin(turn * 900 * seconds),
  "a burst of noise": (_: number, seed = 0) => {
    const random = randomOf(seed + 1);
    return () => 2 * random() - 1;
  },
} as const satisfies Record<string, (length: number, seed?: number) => (seconds: number) => number>;
export type BeepKind = keyof typeof kinds;

/** A beep of so many ms at 8 kHz, whose root mean square is so many dBFS. */
export const beepOf = (kind: BeepKind, ms: number, level: number, seed = 0) => {
  const wave = kinds[kind](ms / 1_000, seed);
  const values = Array.from({ length: ms * 8 }, (_, at) => wave(at / 8_000));
  const power = values.reduce((sum, value) => sum + value ** 2, 0) / values.length;
  const scale = (32_768 * 10 ** (level / 20)) / Math.sqrt(power);
  return Int16Array.from(values, (value) =>
    Math.round(Math.max(-32_768, Math.min(32_767, value * scale))),
  );
};
