import type { Input, InputRules, Taken } from "./instructions.ts";
import type { Line } from "./line.ts";
import { type Utterance, Utterances } from "./utterances.ts";

/** Keys and speech that interrupted a prompt: they belong to the next input. */
export interface Ahead {
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
export const takeInput = async (
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
