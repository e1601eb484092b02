import type {
  Conference,
  Dial,
  Input,
  InputRules,
  Instruction,
  Play,
  Prompts,
  Record,
  RecordRules,
  Stream,
  Taken,
  Then,
} from "./instructions.ts";
import {
  type Background,
  type Doing,
  FlowError,
  type Line,
  type Part,
  type Played,
  type Utterance,
  Utterances,
} from "./line.ts";

/**
 * Waits for what ends a recording: a key, silence, its longest duration, or the signal.
 *
 * @returns the key
 */
const recordUntil = async (
  line: Line,
  { keys, endSilence, countsFirstSilence, maxDuration }: RecordRules,
  signal: AbortSignal,
): Promise<string | undefined> => {
  const from = line.talkTime;
  const end = from + maxDuration;
  let key: string | undefined;
  const stopListening = line.listen({
    onKey: (pressed) => {
      if (!keys.includes(pressed)) return;
      key ??= pressed;
      line.wake();
    },
  });
  const continues = () => key === undefined && !signal.aborted;
  try {
    let lastSound = countsFirstSilence ? from : undefined;
    for (let now = from; now < end && continues(); now = line.talkTime) {
      // Silence that isn't over yet can't end it, so the audio is judged once it could be.
      const until = endSilence > 0 ? (lastSound ?? now) + endSilence : end;
      await line.waitUntil(Math.min(until, end), continues);
      const loud = line.lastAudible(now, line.talkTime) ?? lastSound;
      if (lastSound !== undefined && loud === lastSound && line.talkTime >= until) break;
      lastSound = loud;
    }
  } finally {
    stopListening();
  }
  return key;
};

/** Keys and speech that interrupted a prompt: they belong to the next input. */
interface Ahead {
  readonly keys: string[];
  readonly utterances: Utterance[];
}

/** What comes in while an input runs: keys, or speech where it came first. */
class TakenInput implements Taken {
  readonly #rules: InputRules;
  keys = "";
  finishedBy: string | undefined;
  readonly speech: Utterances = new Utterances();

  constructor(rules: InputRules) {
    this.#rules = rules;
  }

  /** How many keys and utterances there are. */
  get count(): number {
    return this.keys.length + (this.finishedBy === undefined ? 0 : 1) + this.speech.count;
  }

  get isComplete(): boolean {
    return this.finishedBy !== undefined || this.keys.length >= this.#rules.maxKeys;
  }

  press(key: string): void {
    const { takesKeys, finishingKeys } = this.#rules;
    if (!takesKeys || !this.speech.isEmpty || this.isComplete) return;
    if (finishingKeys.includes(key)) this.finishedBy = key;
    else this.keys += key;
  }

  addUtterance(utterance: Utterance): void {
    if (this.#rules.takesSpeech && this.count === this.speech.count) this.speech.add(utterance);
  }

  /** When it is complete unless something else comes in before, in milliseconds since the answer. */
  deadline(now: number): number {
    const { firstTimeout, keyTimeout, endSilence, maxSpeech } = this.#rules;
    const { speech } = this;
    if (speech.isEmpty) return now + (this.count > 0 ? keyTimeout : firstTimeout);
    return Math.min(speech.to + endSilence, speech.from + maxSpeech);
  }
}

/**
 * Takes input during prompts, and then until enough came or none came for a while.
 *
 * @param playPrompts - plays the prompts
 */
const takeInput = async (
  line: Line,
  { rules, bargesIn }: Pick<Input<never>, "rules" | "bargesIn">,
  ahead: Ahead,
  signal: AbortSignal,
  playPrompts: (continues: () => boolean) => Promise<void>,
): Promise<Taken> => {
  const taken = new TakenInput(rules);
  for (const key of ahead.keys.splice(0)) taken.press(key);
  for (const utterance of ahead.utterances.splice(0)) taken.addUtterance(utterance);
  const isOpen = () => !signal.aborted && !taken.isComplete;
  const stopListening = line.listen({
    onKey: (key) => {
      taken.press(key);
      line.wake();
    },
    onSpeech: (utterance) => taken.addUtterance(utterance),
  });
  try {
    await playPrompts(() => isOpen() && !(bargesIn && taken.count > 0));
    line.endPrompts();
    if (isOpen() && taken.count === 0) line.asks();
    for (let before = -1; isOpen() && before !== taken.count; ) {
      before = taken.count;
      await line.waitUntil(taken.deadline(line.talkTime), () => isOpen() && taken.count === before);
    }
  } finally {
    stopListening();
  }
  return taken;
};

/** The streams of a call that run beside its flow, by their names. */
export class BackgroundStreams {
  readonly #running = new Map<string, Background>();
  #count = 0;

  add(name: string | undefined, stream: Background): void {
    this.#running.set(name ?? `unnamed ${++this.#count}`, stream);
  }

  /** Ends the stream with a name; all streams without one. */
  stop(name: string | undefined): void {
    const named = name === undefined ? [...this.#running.values()] : [this.#running.get(name)];
    for (const stream of named) stream?.stop();
  }

  /** Ends all streams, and waits for that. */
  async stopAll(): Promise<void> {
    this.stop(undefined);
    await Promise.all([...this.#running.values()].map(({ done }) => done));
  }
}

/** What the instructions of a call share. */
export interface Performance {
  readonly line: Line;
  /** Aborts when the call is over or continues elsewhere. */
  readonly signal: AbortSignal;
  readonly ahead: Ahead;
  readonly streams: BackgroundStreams;
}

/** What is played, as a history has it. */
const playedOf = (part: Part): readonly Played[] => {
  switch (part.type) {
    case "text": {
      const { text, language } = part;
      return [{ text, ...(language !== undefined && { language }) }];
    }
    case "media":
      return [{ media_url: part.source.url }];
    case "pause":
      return [{ pause_ms: part.ms }];
    case "keys":
      return [{ keys: part.keys }];
    case "tone":
      return [];
  }
};

/** The beep before a recording. */
const beep = { type: "tone", hertz: 1_000, ms: 500 } as const;

const play = async (
  { step, parts, times, interruptedBy }: Prompts,
  { line, signal, ahead }: Performance,
  isWanted: () => boolean,
  doing?: Doing,
): Promise<void> => {
  const sounds = [];
  for (const part of parts) sounds.push(await line.load(part, signal, times));
  if (!isWanted()) return;
  const duration = sounds.reduce((sum, sound) => sum + sound.duration, 0);
  line.begin(step, { plays: parts.flatMap(playedOf), ...doing, duration });
  let isInterrupted = false;
  const continues = () => isWanted() && !isInterrupted;
  const interrupt = () => {
    isInterrupted = true;
    line.wake();
  };
  const stopListening = line.listen({
    onKey: (key) => {
      if (!interruptedBy?.keys) return;
      ahead.keys.push(key);
      interrupt();
    },
    onSpeech: (utterance) => {
      if (!interruptedBy?.speech) return;
      ahead.utterances.push(utterance);
      isInterrupted = true;
    },
  });
  try {
    for (const sound of sounds) {
      if (!continues()) break;
      await sound.play(continues);
    }
  } finally {
    stopListening();
  }
};

const performPlay = async <Request>(
  playing: Play<Request>,
  performance: Performance,
): Promise<Then<Request>> => {
  const { line, signal } = performance;
  await play(playing, performance, () => !signal.aborted);
  if (playing.endsPrompts) line.endPrompts();
  return playing.next?.() ?? "next";
};

const performInput = async <Request>(
  input: Input<Request>,
  performance: Performance,
): Promise<Then<Request>> => {
  const { step, prompts, rules } = input;
  const { line, ahead, signal } = performance;
  if (!rules.takesKeys && !line.recognizesSpeech) {
    const rule = "takes speech alone, which this line doesn't recognize: take keys";
    throw new FlowError(step?.step ?? 0, "input", rule);
  }
  const takes = [
    ...(rules.takesKeys ? (["keys"] as const) : []),
    ...(rules.takesSpeech ? (["speech"] as const) : []),
  ];
  if (step) line.begin(step, { takes });
  const taken = await takeInput(line, input, ahead, signal, async (continues) => {
    for (const prompt of prompts) {
      if (continues()) await play(prompt, performance, continues, step ? undefined : { takes });
    }
  });
  return input.next(taken);
};

const performRecord = async <Request>(
  { step, beeps, rules, begin }: Record<Request>,
  { line, signal }: Performance,
): Promise<Then<Request>> => {
  if (step) line.begin(step, { records: true });
  if (beeps) await (await line.load(beep, signal)).play(() => !signal.aborted);
  line.endPrompts();
  if (signal.aborted) return "end";
  const from = line.talkTime;
  const end = begin();
  const key = rules && (await recordUntil(line, rules, signal));
  line.recorded(from, rules && line.talkTime);
  return end(key);
};

const performDial = async <Request>(
  { step, next, ...dialling }: Dial<Request>,
  { line, signal }: Performance,
): Promise<Then<Request>> => {
  line.begin(step, { dials: dialling.to });
  return next(await line.dial({ ...dialling, step: step.step, signal }));
};

const performConference = async <Request>(
  { step, name, isAlone, maxDuration, onBegin, onState, next }: Conference<Request>,
  { line, signal }: Performance,
): Promise<Then<Request>> => {
  const to = `conference:${name}`;
  line.begin(step, { dials: to });
  onBegin?.();
  if (isAlone && maxDuration !== undefined) {
    await line.waitUntil(line.talkTime + maxDuration, () => !signal.aborted);
  } else {
    await line.join({ step: step.step, to, record: true, signal, maxDuration, onState });
  }
  return next();
};

const runStream = async <Request>(
  { step, open, onEnd }: Stream<Request>,
  line: Line,
  signal: AbortSignal,
): Promise<FlowError | undefined> => {
  let stopListening = () => {};
  const end = (error?: FlowError): FlowError | undefined => {
    onEnd?.(error);
    return error;
  };
  const socket = await open();
  const onOpen = () => {
    line.begin(step, { streams: socket.url });
    const codec = socket.onOpen();
    const { press } = codec;
    if (press) stopListening = line.listen({ onKey: press });
    return codec;
  };
  try {
    await line.stream({ ...socket, onOpen }, signal);
    return end();
  } catch (error) {
    if (error instanceof FlowError) return end(error);
    throw error;
  } finally {
    stopListening();
  }
};

const performStream = async <Request>(
  stream: Stream<Request>,
  { line, signal, streams }: Performance,
): Promise<Then<Request>> => {
  const { beside, next } = stream;
  if (beside) {
    const running = line.beside(async (forked, ending) => {
      const error = await runStream(stream, forked, ending);
      if (error) throw error;
    });
    streams.add(beside.name, running);
    return "next";
  }
  const error = await runStream(stream, line, signal);
  if (next) return next(error);
  if (error) throw error;
  return "next";
};

/**
 * Performs an instruction.
 *
 * @throws {FlowError} when it can't be performed
 */
export const perform = async <Request>(
  instruction: Instruction<Request>,
  performance: Performance,
): Promise<Then<Request>> => {
  const { line, streams } = performance;
  switch (instruction.type) {
    case "play":
      return performPlay(instruction, performance);
    case "input":
      return performInput(instruction, performance);
    case "record":
      return performRecord(instruction, performance);
    case "dial":
      return performDial(instruction, performance);
    case "conference":
      return performConference(instruction, performance);
    case "stream":
      return performStream(instruction, performance);
    case "stop streams":
      line.begin(instruction.step);
      streams.stop(instruction.name);
      return "next";
    case "continue":
      line.begin(instruction.step);
      return instruction.next();
  }
};
