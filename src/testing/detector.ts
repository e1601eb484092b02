import { createKeyDetector } from "../emulator/pressed-keys.ts";
import { isLoud, speechLevel } from "../emulator/recording/recording.ts";
import { sampleAt } from "../emulator/recording/track.ts";

/** A stretch of speech, in milliseconds since the answer. */
export interface Segment {
  /** Its first audible sample. */
  readonly from: number;
  /** The end of its last audible sample. */
  readonly to: number;
}

/** Finds speech in 16-bit samples. */
export interface Detector {
  /** Its name, for the report. */
  readonly name: string;
  /** Returns the stretches of speech, in order, in milliseconds since the first sample. */
  readonly detect: (samples: Int16Array, sampleRate: number) => readonly Segment[];
}

/** The samples that are judged together, in ms. */
const frame = 10;

/** A pause that is shorter belongs to the speech round it, in ms. */
const pause = 200;

/** What is left of a sound after a longer pause stands alone: the closure of a consonant is shorter, in ms. */
const closure = 100;

/** What of the caller is shorter is no utterance, in ms. */
const shortestSound = 20;

/** What of an agent is shorter is a click or a pop, and no speech, in ms. */
const shortestSpeech = 60;

/** A stretch that sounds, and how long it is louder than the pauses in it, in ms. */
interface Sound extends Segment {
  readonly loud: number;
}

/** The first audible sample of some; their number if there is none. */
const firstAudible = (samples: Int16Array): number => {
  const at = samples.findIndex((sample) => Math.abs(sample) > speechLevel);
  return at < 0 ? samples.length : at;
};

/** The frames that are loud, each from its first audible sample to its last. */
const loudFrames = (samples: Int16Array, sampleRate: number): readonly Sound[] => {
  const size = (sampleRate * frame) / 1000;
  const ms = (count: number) => (count * 1000) / sampleRate;
  const found: Sound[] = [];
  for (let at = 0; at < samples.length; at += size) {
    const part = samples.subarray(at, at + size);
    if (!isLoud(part)) continue;
    const from = ms(at + firstAudible(part));
    const to = ms(at + part.length - firstAudible(part.slice().reverse()));
    found.push({ from, to, loud: to - from });
  }
  return found;
};

/** Sounds, where pauses that are shorter than `longest` belong to them. */
const joined = (sounds: readonly Sound[], longest: number): readonly Sound[] => {
  const found: Sound[] = [];
  for (const { from, to, loud } of sounds) {
    const last = found.at(-1);
    if (!last || from - last.to >= longest) found.push({ from, to, loud });
    // Frames that follow each other are loud throughout, whatever the sample at their border.
    else {
      const gap = from - last.to < frame ? from - last.to : 0;
      found[found.length - 1] = { from: last.from, to, loud: last.loud + gap + loud };
    }
  }
  return found;
};

const segmentOf = ({ from, to }: Segment): Segment => ({ from, to });

/** The caller's sounds in clean samples: they may be as short as a click. */
export const soundsOf = (samples: Int16Array, sampleRate: number): readonly Segment[] =>
  joined(loudFrames(samples, sampleRate), pause)
    .filter(({ from, to }) => to - from >= shortestSound)
    .map(segmentOf);

/**
 * Frames of 10 ms above -45 dBFS. Pauses of less than 200 ms belong to the speech. What sounds for less than 60 ms, and
 * has pauses of 100 ms or more round it, is left out. Ends are exact to the sample.
 */
export const energyDetector: Detector = {
  name: "energy, -45 dBFS, 10 ms, 60 ms or more, pauses of 200 ms",
  detect: (samples, sampleRate) =>
    joined(
      joined(loudFrames(samples, sampleRate), closure).filter(
        ({ loud }) => Math.round(loud) >= shortestSpeech,
      ),
      pause,
    ).map(segmentOf),
};

/** A longer tone is no press of a key, in ms. */
const longestKey = 500;

/** How much shorter the tone of a key may be found than it sounds, in ms: windows of 20 ms find it. */
const unclear = 30;

/** What comes after a tone, so that it is over, in ms. */
const after = 60;

/** Whether samples are the tone of one key, from their beginning to their end. */
const isKey = (samples: Int16Array, sampleRate: number): boolean => {
  const padded = new Int16Array(samples.length + sampleAt(after, sampleRate));
  padded.set(samples);
  const detector = createKeyDetector(sampleRate);
  const { length } = detector.push(padded);
  return length === 1 && detector.latest() >= (samples.length * 1000) / sampleRate - unclear;
};

/** The tones of keys, as an agent presses them in a menu. */
export const keyTonesOf = (samples: Int16Array, sampleRate: number): readonly Segment[] =>
  joined(loudFrames(samples, sampleRate), frame)
    .filter(({ from, to }) => {
      const part = samples.subarray(sampleAt(from, sampleRate), sampleAt(to, sampleRate));
      return to - from <= longestKey && isKey(part, sampleRate);
    })
    .map(segmentOf);

/** The samples with silence in the place of some stretches, and a frame round each: a tone grows and fades. */
export const silenced = (
  samples: Int16Array,
  sampleRate: number,
  stretches: readonly Segment[],
): Int16Array => {
  if (stretches.length === 0) return samples;
  const rest = samples.slice();
  for (const { from, to } of stretches) {
    rest.fill(0, Math.max(0, sampleAt(from - frame, sampleRate)), sampleAt(to + frame, sampleRate));
  }
  return rest;
};
