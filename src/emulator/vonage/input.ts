import { fieldsOf } from "../../lib/check.ts";
import { iso } from "../history.ts";
import { waitUntil } from "../line.ts";
import { type Utterance, Utterances } from "../utterances.ts";
import { type Fields, subjectOf } from "./call.ts";
import {
  type ActionContext,
  ask,
  begin,
  fail,
  numberOf,
  type Perform,
  targetOf,
} from "./context.ts";
import type { NccoAction } from "./fields.ts";

/** What an `input` waits for. Times are in milliseconds. */
interface Rules {
  readonly takesKeys: boolean;
  readonly takesSpeech: boolean;
  readonly timeOut: number;
  readonly maxDigits: number;
  readonly submitOnHash: boolean;
  readonly startTimeout: number;
  readonly endOnSilence: number;
  readonly maxDuration: number;
}

const rulesOf = (
  { dtmf: keys, speech: said }: NccoAction,
  types: readonly unknown[],
  context: ActionContext,
): Rules => {
  const [dtmf, speech] = [fieldsOf(keys), fieldsOf(said)];
  const secondsOf = (name: string, range: readonly [number, number], missing: number) =>
    numberOf(context, `input.speech.${name}`, speech[name], range, missing) * 1_000;
  return {
    takesKeys: types.includes("dtmf"),
    takesSpeech: types.includes("speech"),
    timeOut: numberOf(context, "input.dtmf.timeOut", dtmf.timeOut, [0, 10], 3) * 1_000,
    maxDigits: numberOf(context, "input.dtmf.maxDigits", dtmf.maxDigits, [1, 20], 4),
    submitOnHash: dtmf.submitOnHash === true,
    startTimeout: secondsOf("startTimeout", [1, 60], 10),
    endOnSilence: secondsOf("endOnSilence", [0.4, 10], 2),
    maxDuration: secondsOf("maxDuration", [1, 60], 60),
  };
};

/** What comes in: keys, or speech where it came first. */
class Input {
  readonly #rules: Rules;
  readonly #keys: string[];
  readonly #utterances = new Utterances();

  /** @param keys - those that have interrupted a prompt */
  constructor(rules: Rules, keys: readonly string[], spoken: readonly Utterance[]) {
    this.#rules = rules;
    this.#keys = rules.takesKeys ? [...keys] : [];
    for (const utterance of spoken) this.addUtterance(utterance);
  }

  /** How many keys and utterances there are. */
  get count(): number {
    return this.#keys.length + this.#utterances.count;
  }

  get isComplete(): boolean {
    const { maxDigits, submitOnHash } = this.#rules;
    return this.#keys.length >= maxDigits || (submitOnHash && this.#keys.includes("#"));
  }

  press(digit: string): void {
    if (this.#rules.takesKeys && this.#utterances.isEmpty) this.#keys.push(digit);
  }

  addUtterance(utterance: Utterance): void {
    if (this.#rules.takesSpeech && this.#keys.length === 0) this.#utterances.add(utterance);
  }

  /** When it is complete unless something else comes in before, in milliseconds since the answer. */
  deadline(now: number): number {
    const { takesKeys, takesSpeech, timeOut, startTimeout } = this.#rules;
    if (!this.#utterances.isEmpty) return Math.min(...this.#speechEnds());
    // Of both, the longer one: Vonage doesn't say which.
    const first = Math.max(takesKeys ? timeOut : 0, takesSpeech ? startTimeout : 0);
    return now + (this.#keys.length > 0 ? timeOut : first);
  }

  /** The fields of the event. */
  fields(): Fields {
    const { takesSpeech } = this.#rules;
    return { ...(takesSpeech && { speech: this.#speech() }), dtmf: this.#dtmf() };
  }

  /** When speech ends by silence, and by its length. */
  #speechEnds(): readonly [silence: number, length: number] {
    const { endOnSilence, maxDuration } = this.#rules;
    return [this.#utterances.to + endOnSilence, this.#utterances.from + maxDuration];
  }

  #speech(): Fields {
    const { isEmpty, text, confidence } = this.#utterances;
    if (this.#keys.length > 0) return { results: [] };
    if (isEmpty) return { timeout_reason: "start_timeout", results: [] };
    const [silence, length] = this.#speechEnds();
    return {
      timeout_reason: silence <= length ? "end_on_silence_timeout" : "max_duration",
      results: [{ confidence: String(confidence), text }],
    };
  }

  #dtmf(): Fields {
    const { takesKeys, submitOnHash, maxDigits } = this.#rules;
    if (!takesKeys || !this.#utterances.isEmpty) return { digits: null, timed_out: false };
    const pressed = this.#keys.join("");
    const [digits = ""] = submitOnHash ? pressed.split("#") : [pressed];
    return { digits: digits.slice(0, maxDigits), timed_out: !this.isComplete };
  }
}

/** Waits until there is enough, or nothing came for a while. */
const takeInput = async (input: Input, { known, signal }: ActionContext): Promise<void> => {
  const { call } = known;
  for (let before = -1; before !== input.count && !input.isComplete && !signal.aborted; ) {
    before = input.count;
    const isWaiting = () => !signal.aborted && input.count === before;
    await waitUntil(call, input.deadline(call.talkTime), isWaiting);
  }
};

/** Takes keys or speech, and sends them: the response may replace the NCCO. */
export const input: Perform = async (action, context) => {
  const { type = ["dtmf"], mode } = action;
  const types: readonly unknown[] = Array.isArray(type) ? type : [];
  if (!types.some((each) => each === "dtmf" || each === "speech")) {
    return fail(context, "input.type", "must be a list of dtmf and speech");
  }
  if (mode === "asynchronous") return fail(context, "input.mode", "asynchronous is not emulated");
  const rules = rulesOf(action, types, context);
  const target = targetOf(context, action);
  begin(context, action);
  const { known, keys, spoken } = context;
  const { call } = known;
  call.endPrompts();
  const taken = new Input(rules, keys, spoken);
  keys.length = spoken.length = 0;
  const onKey = (digit: string) => {
    taken.press(digit);
    call.timeline.skip();
  };
  const onSpeech = (utterance: Utterance) => taken.addUtterance(utterance);
  call.keyListeners.add(onKey);
  call.speechListeners.add(onSpeech);
  if (taken.count === 0) context.parts.onQuestion?.(call);
  try {
    await takeInput(taken, context);
    if (context.signal.aborted) return;
    const timestamp = iso(call.timeline.now());
    return await ask(context, target, { ...taken.fields(), ...subjectOf(known), timestamp });
  } finally {
    call.keyListeners.delete(onKey);
    call.speechListeners.delete(onSpeech);
  }
};
