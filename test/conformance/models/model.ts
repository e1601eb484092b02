import type { MediaClock } from "outdial/agents";
import { type Coding, level } from "./sound.ts";

/** The level of an answer's samples, the first of which is 0: so that it is known in what was heard. */
export const levelOf = (answer: number): number => 10_000 + 3_000 * (answer % 6);

/** Which answer samples belong to, by their level, or −1 where it is silent. */
export const answerAt = (sample: number): number =>
  sample < 8_500 ? -1 : Math.round((sample - 10_000) / 3_000);

/** A call of a tool. */
export interface ModelCall {
  readonly name: string;
  readonly args: object;
}

/** What a model does, whatever protocol it speaks. Times are in ms. */
export interface Behaviour {
  /** How long each of its answers is. The first may be its greeting. */
  readonly answers?: readonly number[] | undefined;
  /** How long the answers after those are, 800 by default; `false` for none. */
  readonly further?: number | false | undefined;
  /** The answers, counted from 0, that call a tool after their audio, or several. */
  readonly calls?: Readonly<Record<number, ModelCall | readonly ModelCall[]>> | undefined;
  /** With it each call of a tool comes in a message of its own, so long after the one before. */
  readonly callGap?: number | undefined;
  /**
   * How long after its text, and its calls of tools, the audio of an answer comes: with Deepgram's and ElevenLabs' protocol.
   */
  readonly speechDelays?: Readonly<Record<number, number>> | undefined;
  /** The answers that fail with `server_error`, after all of their audio and their tool: with OpenAI's protocol. */
  readonly failures?: readonly number[] | undefined;
  /** What its first words are: none by default. */
  readonly greeting?: string | undefined;
  /** Whether it speaks first, unasked: with ElevenLabs' and GPT-Live's protocol. */
  readonly speaksFirst?: boolean | undefined;
  /** Whether it reports that the callee speaks only while it makes an answer: with ElevenLabs' and Gemini's protocol. */
  readonly isDeafToOnsets?: boolean | undefined;
  /**
   * With Gemini's protocol: when the turn of a tool call ends. By default at once; `before` the call, which is late then; or it
   * stays `open` for 2 s, unless it goes on with the result, or a text interrupts it.
   */
  readonly toolTurn?: "before" | "open" | undefined;
  /** With ElevenLabs' protocol: samples a second of its voice, which is PCM then. By default it is μ-law. */
  readonly sampleRate?: number | undefined;
  /** How long it takes until an answer begins. */
  readonly latency?: number | undefined;
  /** Audio in one message. */
  readonly delta?: number | undefined;
  /** How many times as fast as it is spoken it is made. */
  readonly pace?: number | undefined;
  /** How many messages of an answer still come after it was interrupted. */
  readonly late?: number | undefined;
  /** The mean size of samples above which it hears speech, and how long speech must be for it to notice. */
  readonly loudness?: number | undefined;
  readonly onset?: number | undefined;
  /** Silence of the callee that ends a turn. */
  readonly patience?: number | undefined;
  /** How many times it hears the callee speak; all by default. A speech that comes in pieces, or a key, is no other one then. */
  readonly turns?: number | undefined;
}

/** The time in which a model lives. */
export type ModelClock = Pick<MediaClock, "now" | "after">;

/** How a protocol says what a model does. */
export interface Dialect {
  readonly coding: () => Coding;
  readonly begin: (answer: number, request: unknown) => void;
  readonly audio: (answer: number, bytes: Uint8Array<ArrayBuffer>) => void;
  readonly tools: (calls: readonly (ModelCall & { readonly id: string })[], answer: number) => void;
  readonly done: (answer: number, isCut: boolean) => void;
  readonly failed?: (answer: number) => void;
  readonly speech: () => void;
  readonly speechStopped: () => void;
}

/** A model that answers whoever stops speaking, and is silent when they begin. */
export class Model {
  /** Audible milliseconds that it was sent, and when, by the clock. */
  readonly heard: { readonly at: number; readonly ms: number }[] = [];
  readonly #dialect: Dialect;
  readonly #clock: ModelClock;
  readonly #behaviour: Behaviour;
  #answers = 0;
  #turns = 0;
  #cancel = () => {};
  #making: number | undefined;
  #loud = 0;
  #quiet = 0;
  #isSpeech = false;

  constructor(dialect: Dialect, clock: ModelClock, behaviour: Behaviour) {
    this.#dialect = dialect;
    this.#clock = clock;
    this.#behaviour = behaviour;
  }

  /** Whether it makes an answer. */
  get isMaking(): boolean {
    return this.#making !== undefined;
  }

  /** Whether the callee speaks. */
  get isSpeech(): boolean {
    return this.#isSpeech;
  }

  /** Says its next answer, asked for by some request. */
  answer(request?: unknown): void {
    const { answers, further = 800, calls, latency = 100, speechDelays } = this.#behaviour;
    const answer = this.#answers++;
    const ms = answers?.[answer] ?? further;
    const wanted = [calls?.[answer] ?? []].flat();
    if (ms === false && wanted.length === 0) return;
    this.#making = answer;
    this.#dialect.begin(answer, request);
    const delay = speechDelays?.[answer];
    const make = () => {
      if (delay === undefined) return this.#make(answer, ms || 0, wanted);
      this.#callTools(answer, wanted);
      this.#cancel = this.#clock.after(delay, () => this.#make(answer, ms || 0, []));
    };
    if (latency > 0) this.#cancel = this.#clock.after(latency, make);
    else make();
  }

  #make(answer: number, ms: number, wanted: readonly ModelCall[]): void {
    const { delta = 100, pace = 5, failures, callGap } = this.#behaviour;
    const finish = (from = 0): void => {
      if (callGap !== undefined && from < wanted.length - 1) {
        this.#callTools(answer, wanted.slice(from, from + 1), from);
        this.#cancel = this.#clock.after(callGap, () => finish(from + 1));
        return;
      }
      this.#making = undefined;
      this.#callTools(answer, wanted.slice(from), from);
      if (failures?.includes(answer)) this.#dialect.failed?.(answer);
      else this.#dialect.done(answer, false);
    };
    const since = this.#clock.now();
    let made = 0;
    const make = () => {
      do {
        const more = Math.min(delta, ms - made);
        made += more;
        if (more > 0) this.#audio(answer, more);
        // As fast as it says, also in a process that is held up.
      } while (made < ms && made <= (this.#clock.now() - since) * pace);
      if (made < ms) {
        this.#cancel = this.#clock.after(delta / pace, make);
        return;
      }
      finish();
    };
    make();
  }

  #callTools(answer: number, wanted: readonly ModelCall[], from = 0): void {
    const calls = wanted.map((call, at) => ({ ...call, id: `call_${answer}${from + at || ""}` }));
    if (calls.length > 0) this.#dialect.tools(calls, answer);
  }

  #audio(answer: number, ms: number): void {
    const { rate, write } = this.#dialect.coding();
    this.#dialect.audio(answer, write(level(levelOf(answer), ms, rate)));
  }

  /** Hears the callee's audio. */
  hear(bytes: Uint8Array, { read, rate }: Coding = this.#dialect.coding()): void {
    const { loudness = 300, onset = 60, patience = 400, turns } = this.#behaviour;
    const samples = read(bytes);
    const ms = (samples.length / rate) * 1000;
    const sum = samples.reduce((total, sample) => total + Math.abs(sample), 0);
    const isLoud = sum > loudness * samples.length;
    this.#loud = isLoud ? this.#loud + ms : 0;
    this.#quiet = isLoud ? 0 : this.#quiet + ms;
    if (isLoud) this.heard.push({ at: this.#clock.now(), ms });
    if (!this.#isSpeech && isLoud && this.#loud >= onset) {
      if (this.#turns < (turns ?? Number.POSITIVE_INFINITY)) this.#begin();
    } else if (this.#isSpeech && this.#quiet >= patience) {
      this.#isSpeech = false;
      this.#dialect.speechStopped();
      this.answer();
    }
  }

  #begin(): void {
    const { isDeafToOnsets, late = 0, delta = 100 } = this.#behaviour;
    this.#isSpeech = true;
    this.#turns++;
    const answer = this.#making;
    this.stop();
    if (answer !== undefined || !isDeafToOnsets) this.#dialect.speech();
    if (answer === undefined) return;
    for (let at = 0; at < late; at++) this.#audio(answer, delta);
    this.#dialect.done(answer, true);
  }

  /** Stops the answer that is being made, for another reason than the callee's speech. */
  cut(): void {
    const answer = this.#making;
    this.stop();
    if (answer !== undefined) this.#dialect.done(answer, true);
  }

  /** Stops without a word. */
  stop(): void {
    this.#cancel();
    this.#making = undefined;
  }
}

/** A model at the end of a socket of any kind. */
export interface Conversation {
  readonly model: Model;
  /** What it sends first. */
  readonly welcome?: object;
  readonly receive: (message: unknown) => void;
  readonly stop: () => void;
}

/**
 * Begins a conversation in a protocol.
 *
 * @param end - closes the socket
 */
export type Protocol = (
  send: (message: object | Uint8Array<ArrayBuffer>) => void,
  clock: ModelClock,
  behaviour: Behaviour,
  end: () => void,
) => Conversation;
