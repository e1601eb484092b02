import type { Segment } from "./detector.ts";

/** What the agent should do at an utterance of the caller. */
export type Expectation = "respond" | "stop" | "ignore";

/** What the caller said: its clean samples say when, before any fault of the line. */
export interface Utterance extends Segment {
  /** What the agent should do. */
  readonly expect: Expectation;
  /** How many keys were pressed, where these are what the caller said. */
  readonly keys?: number | undefined;
}

/** One utterance of the caller, and what the agent did. Times are in milliseconds, since the answer. */
export interface Turn extends Utterance {
  /**
   * From the end of the utterance to the agent's next speech, at the caller's ear. It is negative where the agent cut
   * in. What it began to say before it can have received the caller is none. Absent where none came, and for what the agent
   * should ignore.
   */
  readonly response?: number | undefined;
  /**
   * From the beginning of an utterance that should stop the agent to the end of the agent's speech. Absent where the agent
   * was silent, and where the call ended less than 200 ms after its speech: nobody knows whether it would have stopped.
   */
  readonly stop?: number | undefined;
  /** The agent spoke on for more than a second after it can have received an utterance that should stop it. */
  readonly talkedOn?: true | undefined;
  /** The agent began to speak before the utterance was over, and after it can have received it. */
  readonly cutIn?: true | undefined;
  /** The agent stopped within a second after it can have received what it should ignore. */
  readonly falseStop?: true | undefined;
  /** The agent began to speak within two seconds after it can have received what it should ignore, though it was silent. */
  readonly spurious?: true | undefined;
  /** No response came within ten seconds, and before the agent can have received the caller's next words. */
  readonly missed?: true | undefined;
  /** In real time: frames of the line were late while this turn was measured, by so many milliseconds at most. */
  readonly late?: number | undefined;
}

/** How long a response counts, in ms. */
export const responseWindow = 10_000;

/** How quickly a false stop follows, and how soon a spurious response begins, in ms. */
const stopWindow = 1_000;
const spuriousWindow = 2_000;

/** What the end of the call cuts off within a shorter time did not stop, in ms. */
const pause = 200;

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

/** How long it takes until the other side has received something, and its reaction has arrived here: in ms, at least and at most. */
export interface RoundTrip {
  readonly least: number;
  readonly most: number;
}

/** What of the call a turn is about. */
interface TurnContext {
  readonly agent: readonly Segment[];
  /** When the next utterance that isn't to be ignored begins, or the call ends. */
  readonly next: number;
  /** When the call ends. */
  readonly end: number;
  /** When the latest utterance before began that isn't to be ignored. */
  readonly before: number | undefined;
  readonly roundTrip: RoundTrip;
}

/** When speech stopped, unless the end of the call has cut it off. */
const stopOf = (during: Segment | undefined, end: number): number | undefined =>
  during && end - during.to >= pause ? during.to : undefined;

/** What the agent did at what it should ignore. Only what it can have received counts. */
const ignoredTurn = (
  { from, to, expect }: Utterance,
  { agent, next, end, before, roundTrip: { least, most } }: TurnContext,
): Turn => {
  const received = from + least;
  const during = speechAt(agent, received, end);
  const stopped = stopOf(during, end);
  const following = agent.find((segment) => segment.from > received && segment.from < next);
  const answer = before !== undefined && agent.find((segment) => segment.from > before + least);
  const isFalse = stopped !== undefined && stopped - from <= stopWindow + most;
  const isSpurious =
    !during && following && following.from - to <= spuriousWindow + most && following !== answer;
  return {
    from,
    to,
    expect,
    ...(isFalse && { falseStop: true }),
    ...(isSpurious && { spurious: true }),
  };
};

const turnOf = (utterance: Utterance, context: TurnContext): Turn => {
  const { from, to, expect } = utterance;
  if (expect === "ignore") return ignoredTurn(utterance, context);
  const { agent, next, end, roundTrip } = context;
  const received = from + roundTrip.least;
  // What it began to say before it can have received the caller stops, too.
  const during =
    expect === "stop"
      ? (speechAt(agent, from, to) ?? speechAt(agent, received, Math.max(received, to)))
      : undefined;
  const stopped = stopOf(during, end);
  const begins = Math.max(during?.to ?? from, received);
  // What it began to say before it can have received the caller's next words is about these.
  const until = next + roundTrip.least;
  const following = agent.find((segment) => segment.from > begins && segment.from < until);
  const response =
    following && following.from - to <= responseWindow ? following.from - to : undefined;
  return {
    from,
    to,
    expect,
    ...(response !== undefined && { response }),
    ...(stopped !== undefined && { stop: stopped - from }),
    ...(during && during.to - from > stopWindow + roundTrip.most && { talkedOn: true }),
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
  roundTrip: RoundTrip = { least: 0, most: 0 },
): readonly Turn[] =>
  utterances.map((utterance, at) => {
    const isHeeded = ({ expect }: Utterance) => expect !== "ignore";
    const next = utterances.slice(at + 1).find(isHeeded)?.from ?? end;
    const before = utterances.slice(0, at).findLast(isHeeded)?.from;
    return turnOf(utterance, { agent, next, end, before, roundTrip });
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
