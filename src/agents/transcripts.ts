import { keepNewest } from "../lib/newest.ts";
import type { CallTranscript, Cut, Transcript } from "./agent.ts";

/** What the texts of a call need of it. */
interface TranscriptListener {
  /** Milliseconds since the start of the stream. */
  readonly ms: () => number;
  /** Whether final texts are kept, for tools. */
  readonly isKept: () => boolean;
  readonly onTranscript: (transcript: CallTranscript) => void;
}

/** How many items are remembered. */
const remembered = 64;

/** The texts of one item. */
interface ItemText {
  /** Its final texts, one after the other. */
  text: string;
  /** What has come of a text that isn't whole yet. */
  partial: string;
  hasAudio: boolean;
  cut?: { readonly played: number; readonly duration: number };
}

/** How many final texts of a call are kept for its tools, the last ones. */
const maxTexts = 500;

/** Adds a text to the final ones of a call: one that `replaces` takes the place of its item's earlier ones. */
const addFinal = (texts: CallTranscript[], text: CallTranscript): void => {
  const { who, item, final, replaces } = text;
  if (!final) return;
  const isReplaced = (each: CallTranscript) =>
    !!replaces && item !== undefined && each.item === item && each.who === who;
  const at = texts.findIndex(isReplaced);
  const kept = texts.filter((each) => !isReplaced(each));
  kept.splice(at < 0 ? kept.length : at, 0, text);
  texts.splice(0, texts.length, ...kept.slice(-maxTexts));
};

/** The texts of a call. Those of an interrupted item of the agent are marked: also those that came before. */
export class Transcripts {
  /** The final ones so far, if they are kept. */
  readonly final: CallTranscript[] = [];
  readonly #items = new Map<string, ItemText>();
  readonly #listener: TranscriptListener;

  constructor(listener: TranscriptListener) {
    this.#listener = listener;
  }

  /** Audio of an item has come; without a name it may be that of any. */
  audio(item: string | undefined): void {
    for (const record of item ? [this.#itemOf(item)] : this.#items.values()) record.hasAudio = true;
  }

  /**
   * A text has come. It is marked if its item was interrupted.
   *
   * @param isCancelled - the response that it belongs to was interrupted
   */
  add(transcript: Transcript, isCancelled = false): void {
    this.#passOn(this.#marked(transcript, isCancelled));
  }

  #marked(transcript: Transcript, isCancelled: boolean): Transcript {
    const { who, item, text, final, replaces } = transcript;
    if (who !== "agent" || !item) return transcript;
    const record = this.#itemOf(item);
    if (isCancelled) record.cut ??= { played: 0, duration: 0 };
    if (final) {
      record.text = record.text && !replaces && !record.cut ? `${record.text} ${text}` : text;
      record.partial = "";
    } else record.partial += text;
    if (!record.cut) return transcript;
    return { ...transcript, interrupted: true, ...(final && { replaces: true }), ...record.cut };
  }

  /** The callee has interrupted, or the call has ended: the texts of what was cut off and of what has no audio yet come again. */
  cut(cuts: readonly Cut[]): void {
    for (const { item, played, duration } of cuts) {
      if (item) this.#itemOf(item).cut ??= { played, duration };
    }
    for (const [item, record] of this.#items) {
      const isNew = cuts.some((each) => each.item === item) || !(record.hasAudio || record.cut);
      if (!isNew) continue;
      record.cut ??= { played: 0, duration: 0 };
      const text = [record.text, record.partial].filter(Boolean).join(" ");
      if (!text) continue;
      this.#passOn({
        who: "agent",
        text,
        final: true,
        item,
        interrupted: true,
        replaces: true,
        ...record.cut,
      });
    }
  }

  #passOn(transcript: Transcript): void {
    const { ms, isKept, onTranscript } = this.#listener;
    const text = { ...transcript, ms: ms() };
    if (isKept()) addFinal(this.final, text);
    onTranscript(text);
  }

  #itemOf(item: string): ItemText {
    const record = this.#items.get(item) ?? { text: "", partial: "", hasAudio: false };
    this.#items.set(item, record);
    keepNewest(this.#items, remembered);
    return record;
  }
}
