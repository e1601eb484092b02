import type { Utterance } from "../performer/line.ts";
import type { CalleeAct } from "./callee-script.ts";
import { PressedKeys } from "./pressed-keys.ts";
import type { Recording } from "./recording/recording.ts";
import { resample, sampleAt, type Track } from "./recording/track.ts";
import { readWav } from "./recording/wav.ts";

type Acts = AsyncIterator<CalleeAct> | Iterator<CalleeAct>;

/** Starts a script. */
export type StartScript = () => AsyncIterable<CalleeAct> | Iterable<CalleeAct>;

const iteratorOf = (start: StartScript): Acts => {
  const acts = start();
  return Symbol.asyncIterator in acts ? acts[Symbol.asyncIterator]() : acts[Symbol.iterator]();
};

/** What a callee needs apart from the script. */
export interface CalleeParts {
  readonly recording: Recording;
  readonly hangUp: () => void;
  /** Whether the line loses a frame of the application's audio, by its index since the answer. */
  readonly isLost?: ((frame: number) => boolean) | undefined;
  /** When prompts ended last, in milliseconds since the answer. */
  readonly promptsEndedAt: () => number | undefined;
  /** Called with each key that the callee presses. */
  readonly onDigit: (digit: string) => void;
  /** Called when the callee begins to say a text. */
  readonly onText: (utterance: Utterance) => void;
  /** Called with an error of the script. The script has then ended. */
  readonly onError: (error: unknown) => void;
}

/** How often the callee is checked while it listens or its script is not ready, in milliseconds. */
const checkInterval = 20;

/** The maximum number of acts in one such interval: a script of zero-length acts would never yield. */
const maxActsPerInterval = 1_000;

/** How long a pressed key sounds, and how long the pause after it is, in milliseconds. */
const keyDuration = 100;

/** From the beginning of a key to that of the next one, in milliseconds. */
export const keyInterval: number = 2 * keyDuration;

const rows = ["123", "456", "789", "*0#"];

/** The two frequencies of a key, as every telephone has them. */
const keyHertz = (digit: string): readonly number[] => {
  const row = rows.findIndex((keys) => keys.includes(digit));
  const column = rows[row]?.indexOf(digit) ?? 0;
  return [[697, 770, 852, 941][row] ?? 0, [1209, 1336, 1477][column] ?? 0];
};

/** Sounds a key, from a time in milliseconds since the answer. */
export const addKeyTone = (track: Track, digit: string, from: number): void => {
  for (const hertz of keyHertz(digit)) track.addKeyTone(hertz, from, from + keyDuration);
};

/** Whether a WAV may have this sample rate. */
const isSpeechRate = (rate: number): boolean =>
  Number.isInteger(rate) && rate >= 4_000 && rate <= 192_000;

const isDuration = (ms: number): boolean => Number.isFinite(ms) && ms >= 0;

/** The value of a promise, if it resolves before the next turn of the event loop. */
const valueByNextTurn = async <T>(
  promise: Promise<T>,
): Promise<{ readonly value: T } | undefined> => {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const nextTurn = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, 0);
  });
  const first = await Promise.race([promise.then((value) => ({ value })), nextTurn]);
  clearTimeout(timer);
  return first || undefined;
};

type Say = Extract<CalleeAct, { readonly type: "say" }>;

/** The tone that stands for a text that the callee says. */
const textHertz = 250;

/** The longest text of an act, in characters. */
const maxText = 4_000;

/** How sure a carrier is of a text. */
const defaultConfidence = 0.9;

/** @throws {TypeError} when a field breaks its rule */
const utteranceOf = (
  { ms, text, confidence = defaultConfidence }: Extract<Say, { readonly text: string }>,
  from: number,
): Utterance => {
  if (typeof text !== "string" || !text.trim() || text.length > maxText)
    throw new TypeError(`text must have 1 to ${maxText} characters`);
  if (!(confidence >= 0 && confidence <= 1)) throw new TypeError("confidence must be 0 to 1");
  return { text: text.trim(), confidence, from, to: from + ms };
};

/** The callee's samples, at a sample rate. */
const speechOf = (act: Exclude<Say, { readonly text: string }>, sampleRate: number): Int16Array => {
  if ("voice" in act) {
    const { audio, sampleRate: rate } = act.voice;
    if (!(audio instanceof Int16Array)) throw new TypeError("voice.audio must be Int16Array");
    if (!isSpeechRate(rate))
      throw new TypeError("voice.sampleRate must be a whole number from 4 000 to 192 000");
    return resample(audio, rate, sampleRate);
  }
  const { audio } = act;
  if (audio instanceof Int16Array) return audio;
  if (!(audio instanceof Uint8Array)) throw new TypeError("audio must be Int16Array or Uint8Array");
  const wav = readWav(audio);
  if (!isSpeechRate(wav.sampleRate)) throw new TypeError("must be a WAV of 4 to 192 kHz");
  return resample(wav.samples, wav.sampleRate, sampleRate);
};

/** Returns the time at which an act has ended, in milliseconds since the answer; nothing before. */
type Ending = (now: number) => number | undefined;

/** Ends once so many milliseconds of the application's audio were played after a time. */
const playedEnding =
  (recording: Recording, since: number, ms: number): Ending =>
  (now) => {
    for (const playout of recording.playouts) {
      const at = (time: number) => sampleAt(time, playout.sampleRate);
      const reached = playout.reached(at(since), at(ms), at(now));
      if (reached !== undefined) return (reached * 1000) / playout.sampleRate;
    }
    return;
  };

/** How much of the application's audio is judged at once, in milliseconds. */
const judged = 10;

/** The quiet and the silence of the acts that wait for the application's speech, in milliseconds. */
const defaultQuiet = 600;
const defaultTimeout = 10_000;

/**
 * Follows what the application plays from a time on.
 *
 * @param isOver - by the milliseconds that were audible, and those that have been quiet since
 */
const speechEnding = (
  recording: Recording,
  since: number,
  isOver: (audible: number, quiet: number) => boolean,
): Ending => {
  let at = since;
  let audible = 0;
  let quiet = 0;
  return (now) => {
    for (; at + judged <= now; at += judged) {
      const isQuiet = !recording.isAudible("application", at, at + judged, now);
      audible += isQuiet ? 0 : judged;
      quiet = isQuiet ? quiet + judged : 0;
      if (isOver(audible, quiet)) return at + judged;
    }
    return;
  };
};

/**
 * The callee after the answer. It performs the acts of a script. The audio of an act is created together
 * with the frames that contain it, so every act starts at the exact sample, even on a busy machine. The
 * call never waits for a script: while the script is not ready, the callee is silent.
 */
export class ScriptedCallee {
  readonly #start: StartScript;
  readonly #parts: CalleeParts;
  #acts: Acts | undefined;
  #requested: Promise<CalleeAct | undefined> | undefined;
  /** The end of the current act, where the application decides on it. */
  #ending: Ending | undefined;
  /** The acts that are being performed. */
  #advancing: Promise<void> | undefined;
  /** What the application has pressed. */
  readonly #pressed: PressedKeys;
  /** The digits that the current `press` has left. */
  #digits = "";
  #isReady = true;
  #over = false;
  /** Milliseconds from the answer to the end of the current act. */
  #end = 0;
  /** The number of acts since a time. */
  #pace = { acts: 0, since: 0 };

  constructor(start: StartScript, parts: CalleeParts) {
    this.#start = start;
    this.#parts = parts;
    this.#pressed = new PressedKeys(parts.recording, parts.isLost);
  }

  /** The keys that the application has pressed, as far as the script has waited for any. */
  get keys(): string {
    return this.#pressed.keys;
  }

  /** The application presses keys by the carrier's API. */
  pressed(keys: string): void {
    this.#pressed.add(keys);
  }

  /** Milliseconds from the answer to the end of the latest act. */
  get ms(): number {
    return this.#end;
  }

  /** When the next act is due, in milliseconds since the answer; not before `now`. */
  dueAfter(now: number): number {
    if (this.#over) return Number.POSITIVE_INFINITY;
    return this.#ending || !this.#isReady ? now + checkInterval : Math.max(now, this.#end);
  }

  /** Performs the acts that are due at `ms` or before. */
  async advance(ms: number): Promise<void> {
    // A stream beside the line waits for its own moments, and an act must be performed once.
    while (this.#advancing) await this.#advancing;
    this.#advancing = this.#advanceTo(ms);
    try {
      await this.#advancing;
    } finally {
      this.#advancing = undefined;
    }
  }

  /** Ends the script, and lets it clean up. */
  stop(): void {
    this.#over = true;
    (async () => this.#acts?.return?.())().catch(() => {});
  }

  async #advanceTo(ms: number): Promise<void> {
    while (!this.#over && this.#end <= ms) {
      if (this.#ending) {
        const end = this.#ending(ms);
        if (end === undefined) return;
        this.#end = end;
        this.#ending = undefined;
      }
      const act = await this.#next();
      // An act that is not ready starts when it becomes ready.
      if (act) this.#perform(act);
      else this.#end = Math.max(this.#end, ms);
      if (!act) return;
    }
  }

  /** The next act; `undefined` while the script is not ready, and when it is over. */
  async #next(): Promise<CalleeAct | undefined> {
    if (this.#digits) return { type: "press", digits: this.#digits };
    this.#requested ??= (async () => {
      this.#acts ??= iteratorOf(this.#start);
      const { done, value } = await this.#acts.next();
      if (done) this.#over = true;
      return done ? undefined : value;
    })().catch((error) => {
      this.#fail(error);
      return undefined;
    });
    const ready = await valueByNextTurn(this.#requested);
    this.#isReady = ready !== undefined;
    if (ready) this.#requested = undefined;
    return ready?.value;
  }

  #perform(act: CalleeAct): void {
    try {
      this.#end += this.#durationOf(act);
      if (this.#end - this.#pace.since >= checkInterval) this.#pace = { acts: 0, since: this.#end };
      if (++this.#pace.acts > maxActsPerInterval)
        throw new TypeError(`has ${maxActsPerInterval} acts in ${checkInterval} ms`);
    } catch (error) {
      this.#fail(error);
    }
  }

  /** Performs an act, and returns its length in milliseconds. */
  #durationOf(act: CalleeAct): number {
    const { recording, hangUp, onDigit, onText, promptsEndedAt } = this.#parts;
    const from = this.#end;
    if ("ms" in act && !isDuration(act.ms ?? 0)) throw new TypeError("ms must be 0 or more");
    switch (act.type) {
      case "say": {
        if ("text" in act) {
          const utterance = utteranceOf(act, from);
          recording.callee.addTone(textHertz, from, from + act.ms);
          onText(utterance);
          return act.ms;
        }
        const { sampleRate } = recording.playouts.at(-1) ?? recording;
        const samples = speechOf(act, sampleRate);
        recording.callee.add({ from: sampleAt(from, sampleRate), samples, sampleRate });
        return (samples.length * 1000) / sampleRate;
      }
      case "tone":
        recording.callee.addTone(act.hertz, from, from + act.ms);
        return act.ms;
      case "silence":
        return act.ms;
      case "until":
        return Math.max(0, act.ms - from);
      case "listen":
        this.#ending = playedEnding(recording, from, act.ms);
        return 0;
      case "until-prompt":
        this.#ending = () => {
          const endedAt = promptsEndedAt();
          return endedAt !== undefined && endedAt > from ? endedAt : undefined;
        };
        return 0;
      case "until-quiet": {
        const { ms = defaultQuiet, timeout = defaultTimeout } = act;
        const isOver = (audible: number, quiet: number) => quiet >= (audible > 0 ? ms : timeout);
        this.#ending = speechEnding(recording, from, isOver);
        return 0;
      }
      case "until-speech": {
        const { ms, timeout = defaultTimeout } = act;
        const isOver = (audible: number, quiet: number) => audible >= ms || quiet >= timeout;
        this.#ending = speechEnding(recording, from, isOver);
        return 0;
      }
      case "until-keys": {
        const { keys, timeout = defaultTimeout } = act;
        if (!/^[\dA-D*#]+$/.test(keys)) throw new TypeError("keys must be 0 to 9, A to D, * and #");
        const pressed = this.#pressed;
        this.#ending = (now) => {
          const found = pressed.find(keys, now);
          if (found !== undefined) return Math.max(from, found);
          return now - from >= timeout ? from + timeout : undefined;
        };
        return 0;
      }
      case "press": {
        if (!/^[\d*#]+$/.test(act.digits)) throw new TypeError("digits must be 0 to 9, * and #");
        const digit = act.digits.charAt(0);
        this.#digits = act.digits.slice(1);
        addKeyTone(recording.callee, digit, from);
        onDigit(digit);
        return keyInterval;
      }
      case "hangup":
        this.stop();
        hangUp();
        return 0;
      default:
        throw new TypeError(
          "type must be say, tone, silence, until, until-prompt, until-quiet, until-speech, until-keys, listen, press or hangup",
        );
    }
  }

  #fail(error: unknown): void {
    this.stop();
    this.#parts.onError(error);
  }
}
