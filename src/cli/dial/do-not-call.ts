import { readFileSync, statSync } from "node:fs";
import type { Ledger } from "../../campaigns/index.ts";
import { UsageError } from "../command.ts";
import { readError } from "./csv.ts";
import type { ReadNumber } from "./numbers.ts";

/** Time between two looks at the file, in milliseconds: not every file system announces changes. */
const interval = 1_000;

/** Most lines that an error names. */
const mostLines = 20;

/** The numbers of a file, one per line; `#` starts a comment. */
const numbersIn = (text: string, read: ReadNumber): readonly string[] => {
  const numbers: string[] = [];
  const wrong: string[] = [];
  const lines = text.replace(/^\ufeff/, "").split(/\r?\n|\r/);
  for (const [index, line] of lines.entries()) {
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
  const more = wrong.length > mostLines ? `; and ${wrong.length - mostLines} more` : "";
  // A number that is on the list and cannot be read would be called.
  throw new UsageError(
    `the do-not-call list cannot be read: ${wrong.slice(0, mostLines).join("; ")}${more}`,
  );
};

/** A do-not-call list in a file. */
export class DoNotCallFile {
  readonly #file: string;
  readonly #read: ReadNumber;
  #blocked = "";

  constructor(file: string, read: ReadNumber) {
    this.#file = file;
    this.#read = read;
  }

  /**
   * The numbers that are in the file now.
   *
   * @throws {UsageError} if it is no regular file or cannot be read, or a line is not exactly one number
   */
  numbers(): readonly string[] {
    try {
      // A pipe gives its text only once, and would be empty when it is read again: its people would be called.
      if (!statSync(this.#file).isFile()) {
        throw new UsageError(
          "the do-not-call list must be a regular file: it is read several times",
        );
      }
      return numbersIn(readFileSync(this.#file, "utf8"), this.#read);
    } catch (error) {
      throw readError("the do-not-call list", error);
    }
  }

  /**
   * Blocks its numbers in a ledger, if the file has changed.
   *
   * @throws {UsageError} as `numbers` does
   */
  block(ledger: Pick<Ledger, "block">): void {
    try {
      // More than the time of its last change: a copy may keep that.
      const { ctimeNs, mtimeNs, size, ino } = statSync(this.#file, { bigint: true });
      const version = [ctimeNs, mtimeNs, size, ino].join();
      if (version === this.#blocked) return;
      ledger.block(this.numbers());
      this.#blocked = version;
    } catch (error) {
      throw readError("the do-not-call list", error);
    }
  }

  /** Blocks its numbers whenever the file changes; returns what stops that. */
  watch(ledger: Pick<Ledger, "block">, onError: (error: unknown) => void): () => void {
    const timer = setInterval(() => {
      try {
        this.block(ledger);
      } catch (error) {
        onError(error);
      }
    }, interval);
    return () => clearInterval(timer);
  }
}
