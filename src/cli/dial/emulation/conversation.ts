import type { HistoryEntry } from "../../../emulator/index.ts";
import { fieldsOf, isText } from "../../../lib/check.ts";

/** What a contact hears or does in a call. */
export interface ConversationLine {
  readonly type: "hears" | "presses" | "talks to" | "fails";
  /** What is said, the URL of what is played, the keys, who is connected, or why the flow failed; `""` for no key. */
  readonly text: string;
}

/** A prompt of an action. */
const promptText = (prompt: unknown): string | undefined => {
  if (isText(prompt)) return prompt;
  const { text, media_url } = fieldsOf(prompt);
  return [text, media_url].find(isText);
};

const hears = (texts: readonly unknown[]): readonly ConversationLine[] =>
  texts
    .filter((text): text is string => isText(text) && text.trim() !== "")
    .map((text) => ({ type: "hears", text: text.trim() }));

/** What a contact hears of an action of outdial's own interface. */
const ofAction = (action: Readonly<Record<string, unknown>>): readonly ConversationLine[] => {
  const { prompts, media_url } = action;
  return hears(Array.isArray(prompts) ? prompts.map(promptText) : [media_url]);
};

/** Steps of a carrier's document in which somebody speaks, or something is played. */
const spoken: ReadonlySet<string> = new Set(["Say", "Play", "talk", "stream"]);

/** Steps in which keys are taken. */
const questions: ReadonlySet<string> = new Set(["gather", "Gather", "input"]);

/** Collects the lines of a call. */
class Lines {
  readonly all: ConversationLine[] = [];
  /** Whether keys are taken, and none was pressed. */
  #isOpen = false;

  add(...lines: readonly ConversationLine[]): void {
    this.all.push(...lines);
  }

  ask(): void {
    this.#isOpen = true;
  }

  press(digit: string): void {
    const last = this.all.at(-1);
    const isMore = !this.#isOpen && last?.type === "presses";
    this.#isOpen = false;
    if (isMore) this.all[this.all.length - 1] = { type: "presses", text: last.text + digit };
    else this.add({ type: "presses", text: digit });
  }

  /** The flow goes on, or the call is over. */
  goOn(): void {
    if (this.#isOpen) this.add({ type: "presses", text: "" });
    this.#isOpen = false;
  }
}

type Reader = {
  [Type in HistoryEntry["type"]]?: (
    entry: Extract<HistoryEntry, { type: Type }>,
    lines: Lines,
  ) => void;
};

const readers: Reader = {
  flow: (_, lines) => lines.goOn(),
  state: ({ reason }, lines) => {
    if (reason) lines.goOn();
  },
  action: ({ action }, lines) => {
    lines.add(...ofAction({ ...action }));
    if (questions.has(action.action)) lines.ask();
  },
  verb: ({ verb, text, attributes: { streamUrl } }, lines) => {
    if (spoken.has(verb)) lines.add(...hears([text ?? streamUrl?.replace(/^\["|"\]$/g, "")]));
    if (questions.has(verb)) lines.ask();
  },
  leg: ({ to, state }, lines) => {
    if (state === "answered") lines.add({ type: "talks to", text: to });
  },
  press: ({ digit }, lines) => lines.press(digit),
  flow_error: ({ message }, lines) => lines.add({ type: "fails", text: message }),
};

const read = <Type extends HistoryEntry["type"]>(
  type: Type,
  entry: Extract<HistoryEntry, { type: Type }>,
  lines: Lines,
): void => {
  const reader: Reader[Type] = readers[type];
  reader?.(entry, lines);
};

/** What the contact of a call hears and does, out of its history: the same for each service. */
export const conversationIn = (history: readonly HistoryEntry[]): readonly ConversationLine[] => {
  const lines = new Lines();
  for (const entry of history) read(entry.type, entry, lines);
  return lines.all;
};
