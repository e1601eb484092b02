import { readFileSync, statSync } from "node:fs";
import type { Ledger } from "../../../campaigns/index.ts";
import { UsageError } from "../../command/failure.ts";
import { readingFailed } from "./contacts.ts";
import type { Read } from "./numbers.ts";

/** How often the file is looked at, in milliseconds. */
const every = 1_000;

/** How many lines that can't be read are told. */
const told = 20;

/** The numbers of a file, one on each line; `#` starts a remark. */
const numbersIn = (text: string, read: Read): readonly string[] => {
  const numbers: string[] = [];
  const wrong: string[] = [];
  for (const [index, line] of text
    .replace(/^\ufeff/, "")
    .split(/\r?\n|\r/)
    .entries()) {
    const given = line
      .replace(/#.*/, "")
      .trim()
      .replace(/^"(.*)"$/, "$1");
    if (!given) continue;
    const { number, reason } = read(given);
    if (number === undefined) wrong.push(`line ${index + 1} ${reason}`);
    else numbers.push(number);
  }
  if (wrong.length === 0) return numbers;
  const more = wrong.length > told ? `; and ${wrong.length - told} lines more` : "";
  // Whoever is on it and can't be read would be called.
  throw new UsageError(
    `the do-not-call list can't be read: ${wrong.slice(0, told).join("; ")}${more}`,
  );
};

/** A do-not-call list that is kept in a file. */
export class DoNotCall {
  readonly #file: string;
  readonly #read: Read;
  #seen = "";

  constructor(file: string, read: Read) {
    this.#file = file;
    this.#read = read;
  }

  /**
   * The numbers as they are in the file now.
   *
   * @throws {UsageError} when it can't be read, or has a line that isn't exactly one number
   */
  numbers(): readonly string[] {
    try {
      return numbersIn(readFileSync(this.#file, "utf8"), this.#read);
    } catch (error) {
      throw readingFailed("the do-not-call list", error);
    }
  }

  /**
   * Blocks its numbers, if it has changed.
   *
   * @throws {UsageError} as `numbers` does
   */
  block(ledger: Ledger): void {
    try {
      // Not the time of its last change alone: whoever copies a file may keep that.
      const { ctimeNs, mtimeNs, size, ino } = statSync(this.#file, { bigint: true });
      const state = [ctimeNs, mtimeNs, size, ino].join();
      if (state === this.#seen) return;
      ledger.block(this.numbers());
      this.#seen = state;
    } catch (error) {
      throw readingFailed("the do-not-call list", error);
    }
  }

  /** Reads it again whenever it changes; gives what ends that. */
  watch(ledger: Ledger, onError: (error: unknown) => void): () => void {
    const timer = setInterval(() => {
      try {
        this.block(ledger);
      } catch (error) {
        onError(error);
      }
    }, every);
    return () => clearInterval(timer);
  }
}
