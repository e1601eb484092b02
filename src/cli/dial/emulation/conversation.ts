import type { Doing, HistoryEntry, Played } from "../../../emulator/index.ts";

/** What a contact hears or does in a call. */
export interface ConversationLine {
  readonly type: "hears" | "presses" | "talks to" | "fails";
  /** What is said, the URL of what is played, the keys, who is connected, or why the flow failed; `""` for no key. */
  readonly text: string;
}

const hears = (played: Played): readonly ConversationLine[] => {
  if (!("text" in played) && !("media_url" in played)) return [];
  const text = ("text" in played ? played.text : played.media_url).trim();
  return text === "" ? [] : [{ type: "hears", text }];
};

/** Collects the lines of a call. */
class Lines {
  readonly all: ConversationLine[] = [];
  /** Whether keys are taken, and none was pressed. */
  #isOpen = false;

  add(...lines: readonly ConversationLine[]): void {
    this.all.push(...lines);
  }

  step({ plays = [], takes }: Doing): void {
    this.add(...plays.flatMap(hears));
    if (takes) this.#isOpen = true;
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
  action: (entry, lines) => lines.step(entry),
  verb: (entry, lines) => lines.step(entry),
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
