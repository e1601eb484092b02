import { isRecord } from "../lib/check.ts";
import type { Output } from "../performer/media-socket.ts";

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
  /** Each with how much was queued before it. */
  #marks: readonly { readonly mark: Mark; readonly after: number }[] = [];

  /** Sends a message at once; it is made when it is sent. */
  add(message: () => string): void {
    this.#urgent.push(message);
  }

  /** Comes back once all audio before it was played, or dropped. */
  mark(mark: Mark, { total }: Output): void {
    this.#marks = [...this.#marks, { mark, after: total }];
  }

  /** Drops the marks. */
  dropMarks(): void {
    this.#marks = [];
  }

  /** Takes the messages that are due. */
  take(output: Output, now: number, messageOf: (mark: Mark) => string): readonly string[] {
    const urgent = this.#urgent.map((message) => message());
    this.#urgent = [];
    const played = this.#marks.filter(({ after }) => output.overAt(after) <= now);
    this.#marks = this.#marks.slice(played.length);
    return [...urgent, ...played.map(({ mark }) => messageOf(mark))];
  }

  nextDue(output: Output): number | undefined {
    const [first] = this.#marks;
    return this.#urgent.length > 0 ? 0 : first && output.overAt(first.after);
  }
}
