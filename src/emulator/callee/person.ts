import type { Recording } from "../recording/recording.ts";
import { resampled } from "../recording/sound.ts";
import { sampleAt } from "../recording/track.ts";
import { wavSamples } from "../recording/wav.ts";
import type { CalleeAct } from "./act.ts";

/** Gives a person's acts. */
export type Script = () => AsyncIterable<CalleeAct> | Iterable<CalleeAct>;

type Acts = AsyncIterator<CalleeAct> | Iterator<CalleeAct>;

const iteratorOf = (script: Script): Acts => {
  const acts = script();
  return Symbol.asyncIterator in acts ? acts[Symbol.asyncIterator]() : acts[Symbol.iterator]();
};

/** What a person is, beside their acts. */
export interface PersonParts {
  readonly recording: Recording;
  readonly hangUp: () => void;
  /** Hears what is wrong with the script, which is then over. */
  readonly onError: (error: unknown) => void;
}

/** How often it is looked whether enough was heard, or a script goes on that had to wait. */
const attention = 20;

/** Rates in which somebody may have recorded a voice. */
const isRate = (rate: number): boolean => rate >= 4_000 && rate <= 192_000;

const isTime = (ms: number): boolean => Number.isFinite(ms) && ms >= 0;

/** Acts that a script may do while so much time passes: one that only does such would never let go. */
const mostActs = 1_000;

/** What came of a promise by the next turn of the event loop, if anything did. */
const byNextTurn = async <T>(promise: Promise<T>): Promise<{ readonly value: T } | undefined> => {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const turn = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, 0);
  });
  const came = await Promise.race([promise.then((value) => ({ value })), turn]);
  clearTimeout(timer);
  return came || undefined;
};

/**
 * The person who has answered, and does what a script says. Their voice is made in time with the
 * frames that it goes out in, so that every act is where it belongs to the sample, on a busy machine
 * too. Nothing ever waits for a script: one that isn't ready is silent.
 */
export class Person {
  readonly #script: Script;
  readonly #parts: PersonParts;
  #acts: Acts | undefined;
  #asked: Promise<CalleeAct | undefined> | undefined;
  /** How many milliseconds are still to be listened to, from when on. */
  #listening: { readonly since: number; readonly ms: number } | undefined;
  #isReady = true;
  #over = false;
  /** Milliseconds from the answer to the end of the act that goes on. */
  #end = 0;
  /** How many acts there were since a time. */
  #pace = { acts: 0, since: 0 };

  constructor(script: Script, parts: PersonParts) {
    this.#script = script;
    this.#parts = parts;
  }

  /** Milliseconds from the answer to the end of what was done last. */
  get ms(): number {
    return this.#end;
  }

  /** When there is something to do next, in milliseconds since the answer; not before `now`. */
  dueAfter(now: number): number {
    if (this.#over) return Number.POSITIVE_INFINITY;
    return this.#listening || !this.#isReady ? now + attention : Math.max(now, this.#end);
  }

  /** Does all that is to be done up to a time. */
  async reach(ms: number): Promise<void> {
    while (!this.#over && this.#end <= ms) {
      if (this.#listening && !this.#hasHeard(this.#listening, ms)) return;
      const act = await this.#next();
      // What is asked for and doesn't come begins when it does.
      if (act) this.#do(act);
      else this.#end = Math.max(this.#end, ms);
      if (!act) return;
    }
  }

  /** Gives the script up, and lets it end. */
  leave(): void {
    this.#over = true;
    (async () => this.#acts?.return?.())().catch(() => {});
  }

  #hasHeard({ since, ms }: { readonly since: number; readonly ms: number }, now: number): boolean {
    for (const playout of this.#parts.recording.playouts) {
      const at = (time: number) => sampleAt(time, playout.sampleRate);
      const reached = playout.reached(at(since), at(ms), at(now));
      if (reached === undefined) continue;
      this.#end = (reached * 1000) / playout.sampleRate;
      this.#listening = undefined;
      return true;
    }
    return false;
  }

  /** The next act; `undefined` while the script isn't ready, and when it is over. */
  async #next(): Promise<CalleeAct | undefined> {
    this.#asked ??= (async () => {
      this.#acts ??= iteratorOf(this.#script);
      const { done, value } = await this.#acts.next();
      if (done) this.#over = true;
      return done ? undefined : value;
    })().catch((error) => {
      this.#fail(error);
      return undefined;
    });
    const came = await byNextTurn(this.#asked);
    this.#isReady = came !== undefined;
    if (came) this.#asked = undefined;
    return came?.value;
  }

  #do(act: CalleeAct): void {
    try {
      this.#end += this.#lengthOf(act);
      if (this.#end - this.#pace.since >= attention) this.#pace = { acts: 0, since: this.#end };
      if (++this.#pace.acts > mostActs)
        throw new TypeError(`has ${mostActs} acts in ${attention} ms`);
    } catch (error) {
      this.#fail(error);
    }
  }

  /** Does an act, and gives how many milliseconds it takes. */
  #lengthOf(act: CalleeAct): number {
    const { recording, hangUp } = this.#parts;
    const from = this.#end;
    if ("ms" in act && !isTime(act.ms)) throw new TypeError("ms must be 0 or more");
    switch (act.type) {
      case "say": {
        const { sampleRate } = recording.playouts.at(-1) ?? recording;
        const samples = samplesOf(act.audio, sampleRate);
        recording.callee.add({ from: sampleAt(from, sampleRate), samples, sampleRate });
        return (samples.length * 1000) / sampleRate;
      }
      case "tone":
        recording.callee.hum(act.hertz, from, from + act.ms);
        return act.ms;
      case "silence":
        return act.ms;
      case "until":
        return Math.max(0, act.ms - from);
      case "listen":
        this.#listening = { since: from, ms: act.ms };
        return 0;
      case "hangup":
        this.leave();
        hangUp();
        return 0;
      default:
        throw new TypeError("type must be say, tone, silence, until, listen or hangup");
    }
  }

  #fail(error: unknown): void {
    this.leave();
    this.#parts.onError(error);
  }
}

/** Samples as they are; those of a WAV at the rate that is wanted. */
const samplesOf = (audio: Int16Array | Uint8Array, sampleRate: number): Int16Array => {
  if (audio instanceof Int16Array) return audio;
  if (!(audio instanceof Uint8Array)) throw new TypeError("audio must be Int16Array or Uint8Array");
  const wav = wavSamples(audio);
  if (!isRate(wav.sampleRate)) throw new TypeError("must be a WAV of 4 to 192 kHz");
  return resampled(wav.samples, wav.sampleRate, sampleRate);
};
