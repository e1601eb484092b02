import { readFileSync, statSync } from "node:fs";
import { setImmediate } from "node:timers/promises";
import type { Campaign } from "../../campaigns/index.ts";
import { Failure, UsageError } from "../command.ts";
import { readError } from "./csv.ts";
import type { ReadNumber } from "./numbers.ts";

/** Time between two looks at the file, in milliseconds: not every file system announces changes. */
const interval = 1_000;

/** How often a list that cannot be read is looked at again: while it is replaced it may be away for a moment. */
const mostLooks = 60;

/** Most lines that an error names. */
const mostLines = 20;

/** How many lines are read before other work goes on: numbers with separators take 50 ms. */
const page = 1_000;

/** The lines of a text, one after the other. */
function* linesOf(text: string): Generator<string, void> {
  let from = text.startsWith("\ufeff") ? 1 : 0;
  for (const { index, 0: end } of text.matchAll(/\r\n|\r|\n/g)) {
    yield text.slice(from, index);
    from = index + end.length;
  }
  yield text.slice(from);
}

/** The numbers of a file, one per line; `#` starts a comment. */
const numbersIn = async (
  text: string,
  read: ReadNumber,
  name: string,
): Promise<readonly string[]> => {
  const numbers: string[] = [];
  const wrong: string[] = [];
  let count = 0;
  for (const line of linesOf(text)) {
    if (++count % page === 0) await setImmediate();
    const given = line
      .replace(/#.*/, "")
      .trim()
      .replace(/^"(.*)"$/, "$1");
    if (!given) continue;
    const { number, reason } = read(given);
    if (number === undefined) wrong.push(`line ${count} ${reason}`);
    else numbers.push(number);
  }
  if (wrong.length === 0) return numbers;
  const more = wrong.length > mostLines ? `; and ${wrong.length - mostLines} more` : "";
  // A number that is on the list and cannot be read would be called.
  throw new UsageError(`${name} cannot be read: ${wrong.slice(0, mostLines).join("; ")}${more}`);
};

/** A do-not-call list in a file. */
export class DoNotCallFile {
  readonly #file: string;
  readonly #read: ReadNumber;
  readonly #name: string;
  #blocked = "";

  /** @param name - what errors call it */
  constructor(file: string, read: ReadNumber, name = "the do-not-call list") {
    this.#file = file;
    this.#read = read;
    this.#name = name;
  }

  /**
   * The numbers that are in the file now.
   *
   * @throws {UsageError} if it is no regular file or cannot be read, or a line is not exactly one number
   */
  async numbers(): Promise<readonly string[]> {
    try {
      // A pipe gives its text only once, and would be empty when it is read again: its people would be called.
      if (!statSync(this.#file).isFile()) {
        throw new UsageError(`${this.#name} must be a regular file: it is read several times`);
      }
      return await numbersIn(readFileSync(this.#file, "utf8"), this.#read, this.#name);
    } catch (error) {
      throw readError(this.#name, error);
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
      await campaign.block(await this.numbers());
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
      throw readError(this.#name, error);
    }
  }

  /**
   * Blocks its numbers whenever the file changes. While it cannot be read the campaign is paused: people on the list
   * would be called.
   *
   * @param report - called with each message for the user
   */
  watch(campaign: WatchedCampaign, report: (message: string) => unknown): Watch {
    return new Watch(() => this.block(campaign), campaign, report);
  }
}

/** Why a campaign is paused whose do-not-call list cannot be read. */
export const unreadable = "the do-not-call list cannot be read";

type WatchedCampaign = Pick<Campaign, "block" | "pause" | "progress">;

/** Looks at a do-not-call list each second. */
export class Watch {
  readonly #block: () => Promise<void>;
  readonly #campaign: WatchedCampaign;
  readonly #report: (message: string) => unknown;
  readonly #timer: ReturnType<typeof setInterval>;
  readonly #reported = new Set<string>();
  readonly #waiters = new Set<() => void>();
  #isLooking = false;
  /** How many looks in a row have failed. */
  #failed = 0;

  constructor(
    block: () => Promise<void>,
    campaign: WatchedCampaign,
    report: (message: string) => unknown,
  ) {
    this.#block = block;
    this.#campaign = campaign;
    this.#report = report;
    this.#timer = setInterval(() => this.#look(), interval);
  }

  /** Ends the looks. */
  stop(): void {
    clearInterval(this.#timer);
  }

  /** Whether the list cannot be read at present. */
  get isUnreadable(): boolean {
    return this.#failed > 0;
  }

  /**
   * Waits until the list is read again.
   *
   * @returns whether it is; not if that takes longer than 60 s, or the signal aborts
   */
  async readAgain(signal: AbortSignal): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const wake = (): void => resolve();
    this.#waiters.add(wake);
    signal.addEventListener("abort", wake);
    if (!signal.aborted && this.isUnreadable && this.#failed <= mostLooks) await promise;
    this.#waiters.delete(wake);
    signal.removeEventListener("abort", wake);
    return !this.isUnreadable && !signal.aborted;
  }

  async #look(): Promise<void> {
    if (this.#isLooking) return;
    this.#isLooking = true;
    try {
      await this.#block();
      if (this.isUnreadable) this.#report("the do-not-call list is read again: calls go on");
      this.#failed = 0;
      this.#reported.clear();
    } catch (error) {
      // The ledger cannot be written: the run ends with that, or the campaign is closed already.
      await this.#fail(error).catch(() => {});
    } finally {
      this.#isLooking = false;
    }
    if (this.#failed === 0 || this.#failed > mostLooks) for (const wake of this.#waiters) wake();
  }

  async #fail(error: unknown): Promise<void> {
    this.#failed++;
    if (this.#campaign.progress().state === "running") await this.#campaign.pause(unreadable);
    if (!(error instanceof Failure) || this.#reported.has(error.message)) return;
    this.#reported.add(error.message);
    this.#report(`${error.message}; no call begins, and it is read again for ${mostLooks} s`);
  }
}
