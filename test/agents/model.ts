/** What a scripted agent does, whatever protocol it speaks. Times are in ms. */
export interface Behaviour {
  /** How long each of its answers is. The first is its greeting. */
  readonly answers?: readonly number[];
  /** Audio in one message. */
  readonly delta?: number;
  /** How many times as fast as it is spoken it is made. */
  readonly pace?: number;
  /** How many messages of an answer still come after it was interrupted. */
  readonly late?: number;
  /** Silence of the callee that ends a turn. */
  readonly patience?: number;
  /** How many times it hears the callee speak; all by default. A speech that comes in pieces, or a key, is no other one then. */
  readonly turns?: number;
  /** Tools that it asks for with its nth answer, and their arguments. */
  readonly tools?: Readonly<Record<number, readonly { name: string; arguments: object }[]>>;
  /**
   * With Gemini's protocol: when the turn of a tool call ends. By default at once; `before` the call, which is late then; or it
   * stays `open` for 2 s, unless it goes on with the result, or a text interrupts it.
   */
  readonly toolTurn?: "before" | "open" | undefined;
}

/** Of a model whose process is held up: it says an answer at once, and hears one speech where the line is late within it. */
export const unhurried = { delta: 60_000, patience: 1_000 } satisfies Behaviour;

/** How a protocol says what the model does. */
export interface Mouth {
  readonly begin: (answer: number) => void;
  /** So many milliseconds of its answer; the answer's number tells the loudness. */
  readonly audio: (answer: number, ms: number) => void;
  readonly tool: (answer: number, id: string, name: string, args: object) => void;
  readonly done: (answer: number, wasCut: boolean) => void;
  readonly heard: () => void;
}

/** The level of an answer's samples: so that it is known in what was heard. */
export const levelOf = (answer: number): number => 6_000 + 4_000 * (answer % 5);

/** Which answer samples belong to, by their level, or −1 where it is silent. */
export const answerAt = (sample: number): number =>
  sample < 4_000 ? -1 : Math.round((sample - 6_000) / 4_000);

/** A model that answers whoever stops speaking, and is silent when they begin. */
export class Model {
  readonly #mouth: Mouth;
  readonly #behaviour: Required<Omit<Behaviour, "toolTurn">>;
  #answers = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** The answer that is being made, and how much of it is left. */
  #making:
    | { readonly answer: number; readonly since: number; made: number; left: number }
    | undefined;
  #isSpeaking = false;
  #silence = 0;
  /** When the callee began to speak, by this machine's clock. */
  readonly speechAt: number[] = [];

  constructor(mouth: Mouth, behaviour: Behaviour = {}) {
    this.#mouth = mouth;
    this.#behaviour = {
      answers: [2_000],
      delta: 100,
      pace: 5,
      late: 0,
      patience: 300,
      turns: Number.POSITIVE_INFINITY,
      tools: {},
      ...behaviour,
    };
  }

  /** Says its next answer. */
  answer(): void {
    const answer = this.#answers++;
    const { answers, tools } = this.#behaviour;
    const ms = answers[answer] ?? 0;
    const wishes = tools[answer] ?? [];
    if (ms === 0 && wishes.length === 0) return;
    this.#mouth.begin(answer);
    this.#making = { answer, since: performance.now(), made: 0, left: ms };
    this.#make();
  }

  #make(): void {
    const { delta, pace, tools } = this.#behaviour;
    const making = this.#making;
    if (!making) return;
    do {
      const ms = Math.min(delta, making.left);
      making.left -= ms;
      making.made += ms;
      if (ms > 0) this.#mouth.audio(making.answer, ms);
      // As fast as it says, also in a process that is held up.
    } while (making.left > 0 && making.made <= (performance.now() - making.since) * pace);
    if (making.left > 0) {
      this.#timer = setTimeout(() => this.#make(), delta / pace);
      return;
    }
    this.#making = undefined;
    for (const [at, wish] of (tools[making.answer] ?? []).entries()) {
      this.#mouth.tool(making.answer, `call_${making.answer}_${at}`, wish.name, wish.arguments);
    }
    this.#mouth.done(making.answer, false);
  }

  /** Hears samples of the callee. */
  hear(samples: Int16Array, ms: number): void {
    let sum = 0;
    for (const sample of samples) sum += Math.abs(sample);
    const isLoud = sum > 400 * samples.length;
    this.#silence = isLoud ? 0 : this.#silence + ms;
    if (isLoud && !this.#isSpeaking) {
      if (this.speechAt.length < this.#behaviour.turns) this.#begin();
    }
    if (this.#isSpeaking && this.#silence >= this.#behaviour.patience) {
      this.#isSpeaking = false;
      this.answer();
    }
  }

  #begin(): void {
    this.#isSpeaking = true;
    this.speechAt.push(performance.now());
    const cut = this.#making;
    this.stop();
    this.#mouth.heard();
    if (!cut) return;
    for (let at = 0; at < this.#behaviour.late; at++) {
      this.#mouth.audio(cut.answer, this.#behaviour.delta);
    }
    this.#mouth.done(cut.answer, true);
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#making = undefined;
  }
}
