import { open } from "node:fs/promises";
import { dirname } from "node:path";
import { exits, Failure } from "../command.ts";
import { codeOf } from "../terminal.ts";

const lineFeed = 10;

/**
 * Adds lines to a file, and returns once the disk has them.
 *
 * @throws the system's error
 */
const appendLines = async (path: string, lines: readonly string[]): Promise<void> => {
  // Telephone numbers are in it: only its user may read it.
  const file = await open(path, "a+", 0o600);
  try {
    const { size } = await file.stat();
    const end = Buffer.alloc(1);
    if (size > 0) await file.read(end, 0, 1, size - 1);
    // Somebody's editor, or a power failure, may have left a line without its end.
    const start = size > 0 && end[0] !== lineFeed ? "\n" : "";
    await file.appendFile(`${start}${lines.join("\n")}\n`);
    await file.sync();
  } finally {
    await file.close();
  }
};

/** Has the disk keep the name of a new file, too. Windows opens no folder, and needs it not. */
const syncFolder = async (path: string): Promise<void> => {
  const folder = await open(dirname(path), "r").catch(() => undefined);
  await folder?.sync().catch(() => {});
  await folder?.close();
};

/** A file of the numbers that opted out, one a line: other campaigns have it as their do-not-call list. */
export class OptOutFile {
  readonly #path: string;
  readonly #written = new Set<string>();
  #last: Promise<unknown> = Promise.resolve();

  private constructor(path: string) {
    this.#path = path;
  }

  /** @throws {Failure} if it can't be written: nobody could opt out */
  static async open(path: string): Promise<OptOutFile> {
    try {
      await (await open(path, "a", 0o600)).close();
      await syncFolder(path);
    } catch (error) {
      throw new Failure(
        `--opt-outs cannot be written (${codeOf(error) ?? "unknown"})`,
        exits.usage,
      );
    }
    return new OptOutFile(path);
  }

  /**
   * Adds numbers, one line each; a number that it has added before is not added again.
   *
   * @throws the system's error
   */
  add(numbers: readonly string[]): Promise<void> {
    const added = this.#last.then(async () => {
      const fresh = [...new Set(numbers)].filter((number) => !this.#written.has(number));
      if (fresh.length === 0) return;
      await appendLines(this.#path, fresh);
      for (const number of fresh) this.#written.add(number);
    });
    this.#last = added.catch(() => {});
    return added;
  }
}
