import { readFileSync, statSync } from "node:fs";
import { is } from "valibot";
import { CallParams } from "../../../calls/params.ts";
import type { Ledger } from "../../../campaigns/index.ts";
import { UsageError } from "../../command/failure.ts";
import { readingFailed } from "./contacts.ts";
import type { Normalise } from "./numbers.ts";

/** How often the file is looked at, in milliseconds. */
const every = 1_000;

/** The numbers of a file, one on each line; `#` starts a remark. */
const numbersIn = (text: string, normalise: Normalise): readonly string[] => {
  const numbers: string[] = [];
  const wrong: number[] = [];
  for (const [index, line] of text
    .replace(/^\ufeff/, "")
    .split(/\r?\n/)
    .entries()) {
    const number = normalise(line.replace(/#.*/, "").replace(/^"|"$/g, "").trim());
    if (is(CallParams.entries.to_number, number)) numbers.push(number);
    else if (number) wrong.push(index + 1);
  }
  if (wrong.length === 0) return numbers;
  // Whoever is on it and can't be read would be called.
  throw new UsageError(
    `the do-not-call list has no number on line ${wrong.slice(0, 10).join(", ")}`,
  );
};

/** A do-not-call list that is kept in a file. */
export class DoNotCall {
  readonly #file: string;
  readonly #normalise: Normalise;
  readonly #ledger: Ledger;
  #seen = "";

  constructor(file: string, normalise: Normalise, ledger: Ledger) {
    this.#file = file;
    this.#normalise = normalise;
    this.#ledger = ledger;
  }

  /**
   * Reads the file, if it has changed.
   *
   * @throws {UsageError} when it can't be read, or has a line that is no number
   */
  read(): void {
    try {
      const { mtimeMs, size } = statSync(this.#file);
      const state = `${mtimeMs} ${size}`;
      if (state === this.#seen) return;
      this.#ledger.block(numbersIn(readFileSync(this.#file, "utf8"), this.#normalise));
      this.#seen = state;
    } catch (error) {
      throw readingFailed("the do-not-call list", error);
    }
  }

  /** Reads it again whenever it changes; gives what ends that. */
  watch(onError: (error: unknown) => void): () => void {
    const timer = setInterval(() => {
      try {
        this.read();
      } catch (error) {
        onError(error);
      }
    }, every);
    return () => clearInterval(timer);
  }
}
