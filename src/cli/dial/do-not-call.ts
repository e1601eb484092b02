import { readFileSync, statSync } from "node:fs";
import type { Campaign } from "../../campaigns/index.ts";
import { Failure, UsageError } from "../command.ts";
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
   * Blocks its numbers in a campaign, if the file has changed. While another program holds the ledger this
   * waits, and no call begins.
   *
   * @throws {UsageError} as `numbers` does
   * @throws what the `block` of the campaign throws; the next call tries again
   */
  async block(campaign: Pick<Campaign, "block">): Promise<void> {
    const version = this.#version();
    if (version === this.#blocked) return;
    this.#blocked = version;
    try {
      await campaign.block(this.numbers());
    } catch (error) {
      this.#blocked = "";
      throw error;
    }
  }

  /** What differs after each change of the file: more than the time of its last change, which a copy may keep. */
  #version(): string {
    try {
      const { ctimeNs, mtimeNs, size, ino } = statSync(this.#file, { bigint: true });
      return [ctimeNs, mtimeNs, size, ino].join();
    } catch (error) {
      throw readError("the do-not-call list", error);
    }
  }

  /**
   * Blocks its numbers whenever the file changes, and pauses the campaign if that fails: people on the list
   * would be called.
   *
   * @param report - called once with each message for the user
   * @returns stops that
   */
  watch(
    campaign: Pick<Campaign, "block" | "pause">,
    report: (message: string) => unknown,
  ): () => void {
    const reported = new Set<string>();
    let isPausing = false;
    const pause = async (error: unknown): Promise<void> => {
      if (isPausing) return;
      isPausing = true;
      try {
        await campaign.pause("the do-not-call list cannot be read");
      } finally {
        isPausing = false;
      }
      if (!(error instanceof Failure) || reported.has(error.message)) return;
      reported.add(error.message);
      report(error.message);
    };
    const look = (): void => {
      this.block(campaign)
        .catch(pause)
        // The ledger cannot be written: the run ends with that, or the campaign is closed already.
        .catch(() => {});
    };
    const timer = setInterval(look, interval);
    return () => clearInterval(timer);
  }
}
