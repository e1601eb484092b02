import { isLoud, speechLevel } from "../emulator/recording/recording.ts";

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

/** A sound that is shorter is none, in ms. */
const shortest = 20;

/** The first audible sample of some; their number if there is none. */
const firstAudible = (samples: Int16Array): number => {
  const at = samples.findIndex((sample) => Math.abs(sample) > speechLevel);
  return at < 0 ? samples.length : at;
};

/**
 * Frames of 10 ms above -45 dBFS; pauses of less than 200 ms belong to the speech, and what is shorter than 20 ms is
 * left out. Ends are exact to the sample.
 */
export const energyDetector: Detector = {
  name: "energy, -45 dBFS, 10 ms, pauses of 200 ms",
  detect: (samples, sampleRate) => {
    const size = (sampleRate * frame) / 1000;
    const ms = (count: number) => (count * 1000) / sampleRate;
    const found: { from: number; to: number }[] = [];
    for (let at = 0; at < samples.length; at += size) {
      const part = samples.subarray(at, at + size);
      if (!isLoud(part)) continue;
      const from = ms(at + firstAudible(part));
      const to = ms(at + part.length - firstAudible(part.slice().reverse()));
      const last = found.at(-1);
      if (last && from - last.to < pause) last.to = to;
      else found.push({ from, to });
    }
    return found.filter(({ from, to }) => to - from >= shortest);
  },
};

/** What the agent should do at an utterance of the caller. */
export type Expectation = "respond" | "stop" | "ignore";

/** What the caller said: its clean samples say when, before any fault of the line. */
export interface Utterance extends Segment {
  /** What the agent should do. */
  readonly expect: Expectation;
}

/** One utterance of the caller, and what the agent did. Times are in milliseconds, since the answer. */
export interface Turn extends Utterance {
  /**
   * From the end of the utterance to the agent's next speech, at the caller's ear. It is negative where the agent cut
   * in. Absent where none came, and for what the agent should ignore.
   */
  readonly response?: number | undefined;
  /**
   * From the beginning of an utterance that should stop the agent to the end of the agent's speech. Absent where the agent
   * was silent, and where the call ended less than 200 ms after its speech: nobody knows whether it would have stopped.
   */
  readonly stop?: number | undefined;
  /** The agent began to speak before the utterance was over. */
  readonly cutIn?: true | undefined;
  /** The agent stopped within a second of what it should ignore. */
  readonly falseStop?: true | undefined;
  /** The agent began to speak within two seconds of what it should ignore, though it was silent. */
  readonly spurious?: true | undefined;
  /** No response came within ten seconds, and before the caller's next words. */
  readonly missed?: true | undefined;
}

/** How long a response counts, how quickly a false one stops, and how soon a spurious one begins, in ms. */
const responseWindow = 10_000;
const stopWindow = 1_000;
const spuriousWindow = 2_000;

/** An agent that speaks again after a shorter pause has not stopped, in ms. */
const breath = 500;

/** The agent's speech that goes on at a time, with the pauses in it: it goes on after each that ends before `until`. */
const speechAt = (agent: readonly Segment[], ms: number, until: number): Segment | undefined => {
  let speech: Segment | undefined;
  for (const { from, to } of agent) {
    const goesOn = speech && from - speech.to < breath && from < until;
    if (speech && goesOn) speech = { from: speech.from, to };
    else if (from > ms) break;
    else speech = { from, to };
  }
  return speech && speech.to > ms ? speech : undefined;
};

/** What of the call a turn is about. */
interface TurnContext {
  readonly agent: readonly Segment[];
  /** When the next utterance that isn't to be ignored begins, or the call ends. */
  readonly next: number;
  /** When the call ends. */
  readonly end: number;
  /** When the latest utterance before began that isn't to be ignored. */
  readonly before: number | undefined;
}

const turnOf = (
  { from, to, expect }: Utterance,
  { agent, next, end, before }: TurnContext,
): Turn => {
  const until = { respond: from, stop: to, ignore: end }[expect];
  const during = speechAt(agent, from, until);
  // Speech that the end of the call has cut off did not stop.
  const stopped = during && end - during.to >= pause ? during.to - from : undefined;
  const begins = expect === "stop" ? (during?.to ?? from) : from;
  const following = agent.find((segment) => segment.from > begins && segment.from < next);
  const turn = { from, to, expect };
  if (expect === "ignore") {
    const isFalse = stopped !== undefined && stopped <= stopWindow;
    const isSpurious =
      !during &&
      following &&
      following.from - to <= spuriousWindow &&
      following !== agent.find((segment) => before !== undefined && segment.from > before);
    return {
      ...turn,
      ...(isFalse && { falseStop: true }),
      ...(isSpurious && { spurious: true }),
    };
  }
  const stop = expect === "stop" ? stopped : undefined;
  const response =
    following && following.from - to <= responseWindow ? following.from - to : undefined;
  return {
    ...turn,
    ...(response !== undefined && { response }),
    ...(stop !== undefined && { stop }),
    ...(response !== undefined && response < 0 && { cutIn: true }),
    ...(response === undefined && { missed: true }),
  };
};

/**
 * What the agent did at each utterance.
 *
 * @param agent - its speech, at the caller's ear
 * @param end - when the call ended, in ms since the answer
 */
export const turnsOf = (
  utterances: readonly Utterance[],
  agent: readonly Segment[],
  end: number,
): readonly Turn[] =>
  utterances.map((utterance, at) => {
    const isHeeded = ({ expect }: Utterance) => expect !== "ignore";
    const next = utterances.slice(at + 1).find(isHeeded)?.from ?? end;
    const before = utterances.slice(0, at).findLast(isHeeded)?.from;
    return turnOf(utterance, { agent, next, end, before });
  });

/** Milliseconds that two lists of segments have in common. */
const common = (some: readonly Segment[], others: readonly Segment[]): number =>
  some.reduce(
    (sum, one) =>
      others.reduce(
        (inner, other) =>
          inner + Math.max(0, Math.min(one.to, other.to) - Math.max(one.from, other.from)),
        sum,
      ),
    0,
  );

const total = (segments: readonly Segment[]): number =>
  segments.reduce((sum, { from, to }) => sum + to - from, 0);

/** The part of all speech in which both speak, from 0 to 1. */
export const overlapOf = (caller: readonly Segment[], agent: readonly Segment[]): number => {
  const both = common(caller, agent);
  const all = total(caller) + total(agent) - both;
  return all > 0 ? both / all : 0;
};

/** Silence of both sides. */
export interface DeadAir {
  /** Silences of more than 2 000 ms. */
  readonly count: number;
  /** The longest silence, in ms. */
  readonly longest: number;
  /** The sum of those of more than 2 000 ms, in ms. */
  readonly total: number;
}

/** The shortest silence that a caller notices, in ms. */
const noticed = 2_000;

/** @param end - of the call, in ms since the answer */
export const deadAirOf = (segments: readonly Segment[], end: number): DeadAir => {
  let until = 0;
  const silences: number[] = [];
  for (const { from, to } of [...segments].sort((one, other) => one.from - other.from)) {
    silences.push(from - until);
    until = Math.max(until, to);
  }
  silences.push(end - until);
  const long = silences.filter((ms) => ms > noticed);
  return {
    count: long.length,
    longest: Math.max(0, ...silences),
    total: long.reduce((sum, ms) => sum + ms, 0),
  };
};
