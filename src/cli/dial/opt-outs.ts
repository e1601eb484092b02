import { access, constants, type FileHandle, open, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { exits, Failure } from "../command.ts";
import { pathBeside } from "../ledger.ts";
import { codeOf } from "../terminal.ts";
import { DoNotCallFile } from "./do-not-call.ts";
import type { ReadNumber } from "./numbers.ts";
import type { DialValues } from "./options.ts";

const lineFeed = 10;

/** Drops a truncated last line: part of a number may be another number. */
const dropPart = async (file: FileHandle, size: number, text: Buffer): Promise<void> => {
  const part = Buffer.alloc(text.length + 1);
  const { bytesRead } = await file.read(part, 0, part.length, size);
  // Another campaign may have added a line of its own meanwhile.
  const isOurs = part.subarray(0, bytesRead).equals(text.subarray(0, bytesRead));
  if (bytesRead > 0 && isOurs) await file.truncate(size);
};

/** Has the disk keep the name of a new file, too. Windows can't open a folder, and doesn't need this. */
const syncFolder = async (path: string): Promise<void> => {
  const folder = await open(dirname(path), "r").catch(() => undefined);
  await folder?.sync().catch(() => {});
  await folder?.close();
};

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
    const text = Buffer.from(`${start}${lines.join("\n")}\n`);
    await file.appendFile(text).catch(async (error: unknown) => {
      await dropPart(file, size, text).catch(() => {});
      throw error;
    });
    await file.sync();
    if (size === 0) await syncFolder(path);
  } finally {
    await file.close();
  }
};
/** The file in the folder of a list that the lists of the folder share. */
const sharedName = "do-not-call.txt";

/** Where the numbers are that a script blocks: `--opt-outs`, or a file beside the list; `undefined` where no script can block. */
export const optOutPathOf = (
  { script, "opt-outs": given }: Pick<DialValues, "script" | "opt-outs">,
  list: string,
): string | undefined => {
  if (script === undefined) return;
  const pathOf = (path: string): string => join(dirname(path), sharedName);
  return given ?? pathBeside(list, pathOf, ["a file of opt-outs", "--opt-outs"]);
};

/**
 * The numbers that opted out already, of this list or another one; none where there is no file.
 *
 * @throws {UsageError} if it has anything but numbers: it may be the list or the ledger, and can't be a do-not-call list
 */
export const optOutsIn = async (
  path: string | undefined,
  read: ReadNumber,
): Promise<readonly string[]> => {
  const found = path === undefined ? undefined : await stat(path).catch(() => undefined);
  // A folder is refused after this, where it is checked whether it can be written.
  if (path === undefined || !found || found.isDirectory()) return [];
  return new DoNotCallFile(path, read, `the file of --opt-outs (${path})`).numbers();
};

/** What is said of a number that the file does not get. */
const unwritten = (code: string | undefined): string =>
  `--opt-outs cannot be written (${code ?? "unknown"}): who asked is blocked in this ledger only. Mend the file: the next opt-out of this run writes the number, too; or add it by hand`;

/** @throws {Failure} if the system's error says that the file can't be written: nobody could opt out */
const refuseUnwritable = async (work: () => Promise<unknown>): Promise<void> => {
  try {
    await work();
  } catch (error) {
    throw new Failure(`--opt-outs cannot be written (${codeOf(error) ?? "unknown"})`, exits.usage);
  }
};

/**
 * Checks that the file can be written, without making it.
 *
 * @throws {Failure}
 */
export const requireWritable = (path: string): Promise<void> =>
  refuseUnwritable(async () => {
    const isThere = await stat(path).catch(() => undefined);
    // Whoever may write to its folder may add the file. With `/.`, a file in the place of the folder is refused, too.
    if (!isThere) return access(`${dirname(path)}/.`, constants.W_OK);
    await (await open(path, "a")).close();
  });

/** A file of the numbers that opted out, one a line: other campaigns have it as their do-not-call list. */
export class OptOutFile {
  readonly #path: string;
  readonly #written = new Set<string>();
  /** Those that the file lacks, as it could not be written. */
  readonly #missing = new Set<string>();
  #last: Promise<unknown> = Promise.resolve();

  private constructor(path: string) {
    this.#path = path;
  }

  /**
   * The file is made with the first number.
   *
   * @throws {Failure} if it can't be written
   */
  static async open(path: string): Promise<OptOutFile> {
    await requireWritable(path);
    return new OptOutFile(path);
  }

  /**
   * Adds numbers, one line each; a number that it has added before is not added again. Those that could not be added are
   * added with the next ones.
   *
   * @throws an error that says what to do
   */
  add(numbers: readonly string[]): Promise<void> {
    const added = this.#last.then(async () => {
      for (const number of numbers) if (!this.#written.has(number)) this.#missing.add(number);
      const fresh = [...this.#missing];
      if (fresh.length === 0) return;
      await appendLines(this.#path, fresh).catch((error: unknown) => {
        throw new Error(unwritten(codeOf(error)));
      });
      for (const number of fresh) this.#written.add(number);
      this.#missing.clear();
    });
    this.#last = added.catch(() => {});
    return added;
  }
}
