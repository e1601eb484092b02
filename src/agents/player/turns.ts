/** How many turns are remembered, of either kind. */
const remembered = 64;

const remember = (turns: Set<string>, turn: string): void => {
  turns.delete(turn);
  turns.add(turn);
  for (const oldest of turns) {
    if (turns.size <= remembered) break;
    turns.delete(oldest);
  }
};

/** The agent's answers of which more may come: to be said, or to be dropped as they were cut off. */
export class Turns {
  readonly #open = new Set<string>();
  readonly #cancelled = new Set<string>();

  /** Whether more of any answer is on its way. */
  get isOpen(): boolean {
    return this.#open.size > 0;
  }

  /** An answer begins: one that was cut off by this name was another. */
  begin(turn: string): void {
    this.#cancelled.delete(turn);
    remember(this.#open, turn);
  }

  /** All of an answer has come, also of one that was cut off: what comes by its name is a new one. */
  done(turn: string): void {
    this.#open.delete(turn);
    this.#cancelled.delete(turn);
  }

  has(turn: string | undefined): boolean {
    return turn !== undefined && this.#open.has(turn);
  }

  isCancelled(turn: string | undefined): boolean {
    return turn !== undefined && this.#cancelled.has(turn);
  }

  /** Nothing more of them is to be said. */
  cancel(): void {
    for (const turn of this.#open) remember(this.#cancelled, turn);
    this.#open.clear();
  }

  /** Nothing more of them comes. */
  clear(): void {
    this.#open.clear();
  }
}
