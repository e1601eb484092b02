/** Something that the callee says. Times are in milliseconds since the answer. */
export interface Utterance {
  readonly text: string;
  /** From 0 to 1. */
  readonly confidence: number;
  readonly from: number;
  readonly to: number;
}

/** What a speech recognizer has got so far: all that the callee began to say while it listened. */
export class Utterances {
  readonly #utterances: Utterance[] = [];

  add(utterance: Utterance): void {
    this.#utterances.push(utterance);
  }

  get isEmpty(): boolean {
    return this.#utterances.length === 0;
  }

  /** How many utterances there are. */
  get count(): number {
    return this.#utterances.length;
  }

  /** When the first utterance began, in milliseconds since the answer. */
  get from(): number {
    return this.#utterances[0]?.from ?? 0;
  }

  /** When the latest utterance ends, in milliseconds since the answer. */
  get to(): number {
    return this.#utterances.at(-1)?.to ?? 0;
  }

  get text(): string {
    return this.#utterances.map(({ text }) => text).join(" ");
  }

  /** That of the least certain utterance. */
  get confidence(): number {
    return Math.min(...this.#utterances.map(({ confidence }) => confidence));
  }
}
