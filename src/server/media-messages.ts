import { isRecord } from "../lib/check.ts";

/** A message of an application. */
type Json = Readonly<Record<string, unknown>>;

/**
 * The value of a message.
 *
 * @param forms - which messages there are, as the end of a sentence
 * @throws {TypeError} when it is no JSON
 */
export const jsonOf = (data: unknown, forms = "must be JSON"): unknown => {
  if (typeof data !== "string") throw new TypeError("must be text");
  try {
    return JSON.parse(data);
  } catch {
    throw new TypeError(forms);
  }
};

/** @throws {TypeError} when it is no object in JSON */
export const objectOf = (data: unknown, forms?: string): Json => {
  const message = jsonOf(data, forms);
  if (isRecord(message)) return message;
  throw new TypeError("must be an object");
};

/** What waits to be sent to an application: at once, or once all audio before it was played. Times are samples. */
export class Answers<Mark> {
  #urgent: (() => string)[] = [];
  #marks: readonly { readonly mark: Mark; readonly due: number }[] = [];
  /** When all queued audio is played. */
  #end = 0;

  /** Sends a message at once; it is made when it is sent. */
  add(message: () => string): void {
    this.#urgent.push(message);
  }

  /** Called when audio was queued. */
  queued(samples: number, now: number): void {
    this.#end = Math.max(this.#end, now) + samples;
  }

  /** Comes back once all audio before it was played. */
  mark(mark: Mark, now: number): void {
    this.#marks = [...this.#marks, { mark, due: Math.max(this.#end, now) }];
  }

  /**
   * Called when queued audio was dropped.
   *
   * @param keepsMarks - whether they come back now
   */
  cleared(now: number, keepsMarks: boolean): void {
    this.#end = now;
    this.#marks = keepsMarks ? this.#marks.map(({ mark }) => ({ mark, due: now })) : [];
  }

  /** Takes the messages that are due. */
  take(now: number, messageOf: (mark: Mark) => string): readonly string[] {
    const urgent = this.#urgent.map((message) => message());
    this.#urgent = [];
    const played = this.#marks.filter(({ due }) => due <= now);
    this.#marks = this.#marks.slice(played.length);
    return [...urgent, ...played.map(({ mark }) => messageOf(mark))];
  }

  get nextDue(): number | undefined {
    return this.#urgent.length > 0 ? 0 : this.#marks[0]?.due;
  }
}
