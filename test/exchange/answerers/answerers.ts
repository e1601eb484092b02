import { Speech } from "../../../src/exchange/sounds.ts";
import { decodeMulaw, encodeMulaw } from "../../../src/lib/mulaw.ts";
import type { speechOf } from "../asterisk/asterisk.ts";
import { randomOf } from "../compared/cases.ts";
import { tone } from "../telephone/ear.ts";

/** Somebody or something that answers. */
export interface Answering {
  /** What it is, with its voice and its noise. */
  readonly name: string;
  readonly samples: Int16Array;
}

type Random = () => number;

const rate = 8_000;

const pick = <T>(random: Random, all: readonly T[]): T => {
  const one = all[Math.floor(random() * all.length)];
  if (one === undefined) throw new Error("there is nothing to choose from");
  return one;
};

const between = (random: Random, from: number, to: number): number => from + random() * (to - from);

/** Languages of espeak-ng, and its voices. */
const languages = ["en-us", "en-gb", "en-gb-scotland"] as const;
const variants = ["m1", "m3", "m5", "m7", "f1", "f2", "f4", "klatt", "Andy", "Annie"] as const;

/** What people say who answer: at most a second and a half of it. */
const shortWords = [
  "Hello?",
  "Yes?",
  "Hello, who is it?",
  "Good morning.",
  "Miller.",
  "Hi, this is Anna.",
  "Speaking.",
  "Yes, hello.",
  "Who is this?",
  "Hey.",
] as const;

const longWords = [
  "Good morning, you have reached the office of Miller and Sons, this is Anna, how may I help you?",
  "Yes hello, I am in the car at the moment, so please be quick, what is it that you want?",
] as const;

const greetings = [
  "Hi, you have reached the voicemail of Peter Miller. I can't take your call right now. Please leave a message after the tone.",
  "The person you are calling is not available. At the tone, please record your message. When you have finished, you may hang up.",
  "You have reached two zero two, five five five, zero one five zero. Nobody is here. Please leave your name and number after the beep.",
  "Sorry that we missed you, please speak after the signal and we will call you back as soon as we can.",
] as const;

/** Noise of a line, by its name: what a sample is made of. */
const noises: Readonly<Record<string, (random: Random) => () => number>> = {
  white: (random) => () => 2 * random() - 1,
  brown: (random) => {
    let smooth = 0;
    return () => {
      smooth = 0.98 * smooth + 0.2 * (2 * random() - 1);
      return smooth;
    };
  },
  "hum of 50 Hz": (random) => {
    let at = 0;
    return () => 0.8 * Math.sin((2 * Math.PI * 50 * at++) / rate) + 0.2 * (2 * random() - 1);
  },
  none: () => () => 0,
};

const silence = (ms: number) => new Int16Array(Math.round((ms * rate) / 1_000));

const joined = (parts: readonly Int16Array[]): Int16Array =>
  Int16Array.from(parts.flatMap((part) => [...part]));

/** At a level of its loudest sample, from 0 to 1. */
const scaled = (samples: Int16Array, level: number): Int16Array => {
  const peak = samples.reduce((most, sample) => Math.max(most, Math.abs(sample)), 1);
  return samples.map((sample) => (sample / peak) * level * 32_767);
};

/** The voice without the silence around it. */
const trimmed = (samples: Int16Array): Int16Array => {
  const isLoud = (sample: number) => Math.abs(sample) > 300;
  return samples.subarray(samples.findIndex(isLoud), samples.findLastIndex(isLoud) + 1);
};

/** What a line makes of it: noise, and the codec. */
const onLine = (samples: Int16Array, noise: () => number, loudness: number): Int16Array => {
  const noisy = samples.map((sample) =>
    Math.max(-32_768, Math.min(32_767, sample + loudness * noise())),
  );
  return decodeMulaw(encodeMulaw(noisy));
};

/** Makes answerers by a seed. */
export const answerersOf = (speech: ReturnType<typeof speechOf>, seed: number) => {
  const random = randomOf(seed);
  const speakers = new Map<string, Speech>();
  const speak = (text: string, voice: string): Promise<Int16Array> => {
    const args = speech.args.map((arg, at) => (speech.args[at - 1] === "-v" ? voice : arg));
    const speaker = speakers.get(voice) ?? new Speech({ ...speech, args });
    speakers.set(voice, speaker);
    return speaker.speak(text, "+12025550150");
  };
  const make = async (
    texts: readonly string[],
    after: (spoken: Int16Array) => readonly Int16Array[],
  ): Promise<Answering> => {
    const voice = `${pick(random, languages)}+${pick(random, variants)}`;
    const text = pick(random, texts);
    const kind = pick(random, Object.keys(noises));
    const noise = noises[kind]?.(random) ?? (() => 0);
    const loudness = 10 ** between(random, 1, 2.3);
    const spoken = scaled(trimmed(await speak(text, voice)), between(random, 0.15, 0.7));
    const parts = [silence(between(random, 100, 1_500)), ...after(spoken)];
    const name = `${voice}, noise ${kind} of ${Math.round(loudness)}: ${text}`;
    return { name, samples: onLine(joined(parts), noise, loudness) };
  };
  const quiet = silence(4_000);
  return {
    person: () => make(shortWords, (spoken) => [spoken, quiet]),
    longPerson: () => make(longWords, (spoken) => [spoken, quiet]),
    machine: () =>
      make(greetings, (spoken) => [
        spoken,
        silence(between(random, 100, 1_200)),
        tone(between(random, 400, 2_000), between(random, 180, 1_000), between(random, 0.06, 0.4)),
        quiet,
      ]),
    pausing: () =>
      make(shortWords, (spoken) => [
        spoken,
        silence(between(random, 900, 1_500)),
        spoken,
        spoken,
        silence(300),
        tone(between(random, 400, 2_000), 500),
        quiet,
      ]),
    /** Busy and ringing tones, and that of an unobtainable number. */
    network: async (): Promise<Answering> => {
      const [hertz, on, off] = pick(random, [
        [425, 500, 500],
        [440, 2_000, 4_000],
        [950, 330, 10],
      ] as const);
      const period = [tone(hertz, on), silence(off)];
      return { name: `${hertz} Hz`, samples: joined([...period, ...period, ...period, quiet]) };
    },
  };
};
