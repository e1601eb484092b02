import {
  closeSync,
  existsSync,
  lstatSync,
  openSync,
  realpathSync,
  statSync,
  utimesSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import {
  LedgerException,
  type LedgerOptions,
  type OpenedLedger,
  openLedger,
} from "../campaigns/index.ts";
import { type RecordingFiles, recordingFiles } from "../campaigns/recordings.ts";
import { withoutThrowing } from "../lib/check.ts";
import { type Environment, exits, Failure, UsageError } from "./command.ts";
import { codeOf } from "./terminal.ts";

/** The secrets in `SIGNING_SECRET`: one, or several with commas between them, the new one first. */
export const secretsIn = (text: string): string | readonly string[] => {
  const several = text.split(",").map((each) => each.trim());
  return several.every((each) => each.length > 15) ? several : text;
};

/**
 * The secret of a campaign, where the environment has it: a ledger recognizes erased people by it.
 *
 * @throws {UsageError} if it is too short
 */
export const signingSecretIn = ({ SIGNING_SECRET: secret }: Environment): LedgerOptions => {
  if (secret && secret.length < 16) {
    throw new UsageError("SIGNING_SECRET must be 16 characters or more, or not set");
  }
  return secret ? { secret: secretsIn(secret) } : {};
};

/** @throws {Failure} if this runtime has no SQLite */
const sqlite = async (): Promise<typeof DatabaseSync> => {
  try {
    return (await import("node:sqlite")).DatabaseSync;
  } catch {
    throw new Failure("a ledger needs Node 22.13 or later, Deno or Bun", exits.usage);
  }
};

/** Messages of SQLite, which differ by runtime, and what they mean for a ledger. */
const sqliteErrors = [
  [/not a database/, "not a ledger: another kind of file"],
  [/malformed/, "the ledger is damaged"],
  [/locked/, "the ledger is busy: another program holds it"],
  [
    /readonly/,
    "the ledger cannot be written: if the file was moved, put it back before you run the command again",
    "moved",
  ],
  [
    /unable to open/,
    "the ledger cannot be opened: are too many files open, or is its folder gone?",
  ],
  [/disk|full/, "the ledger cannot be written: is the disk full?"],
] as const;

/** Why the system opens no file, by its code. */
const causes: Readonly<Record<string, string>> = {
  EACCES: "you may not read and write it, or its folder",
  EISDIR: "it is a folder",
  EMFILE: "too many files are open",
  ENOENT: "there is no such file or folder",
  ENOSPC: "the disk is full",
  ENOTDIR: "its folder is a file",
  EPERM: "you may not read and write it, or its folder",
  EROFS: "the disk is read-only",
};

/** Why a file can't be opened, without its name: that may be anything. */
const causeOf = (error: unknown): string => {
  const code = codeOf(error) ?? "for a reason that the system does not name";
  return causes[code] ? `${causes[code]} (${code})` : code;
};

/** The failure of a command for an error of its ledger; any other error is returned as it is. */
export const ledgerFailure = (error: unknown): unknown => {
  if (error instanceof LedgerException) {
    const message = error.message.replace(/^The /, "the ");
    return new Failure(message, exits.usage, { reason: error.reason });
  }
  if (!(error instanceof Error) || error instanceof Failure) return error;
  if (!/SQLITE/.test(codeOf(error) ?? "") && error.name !== "SQLiteError") return error;
  const [, message, reason] = sqliteErrors.find(([pattern]) => pattern.test(error.message)) ?? [];
  if (!message) return error;
  return new Failure(message, exits.usage, reason ? { reason } : {});
};

/** @throws {Failure} if the file has a second name, or numbers are about to be added that others may read */
const checkFile = (file: string, create: boolean): void => {
  const stat = statSync(file, { throwIfNoEntry: false });
  if (!stat?.isFile()) return;
  const { mode, nlink } = stat;
  if (create && mode & 0o077 && process.platform !== "win32") {
    throw new Failure("other users may read the ledger: chmod 600 it", exits.usage);
  }
  // SQLite's lock and journal belong to a name, so two names are two ledgers that overwrite each other.
  if (nlink > 1) {
    throw new Failure(
      "the ledger has a second name (a hard link): remove one of them",
      exits.usage,
    );
  }
};

/** Where a file is, whatever links lead there; the path itself where there is none. */
const realPathOf = (path: string): string => (existsSync(path) ? realpathSync(path) : path);

/**
 * The path of a file that stands beside a list. Where the list is a link that is beside the list itself, unless only the link has one.
 *
 * @param pathOf - the path of the file, by that of the list
 * @param what - the file, and the flag that chooses another one
 * @throws {UsageError} if there are two
 */
export const pathBeside = (
  list: string,
  pathOf: (list: string) => string,
  [what, flag]: readonly [what: string, flag: string],
): string => {
  const [link, own] = [pathOf(list), pathOf(realPathOf(list))];
  const isLink = realPathOf(list) !== join(realPathOf(dirname(list)), basename(list));
  if (!isLink) return link;
  if (!existsSync(link) || realPathOf(link) === realPathOf(own)) return own;
  if (!existsSync(own)) return link;
  throw new UsageError(
    `the list is a link, and there is ${what} beside the link and one beside the list: choose one with ${flag}`,
  );
};

/** Where the ledger of a list is, without links: SQLite's lock and journal stand beside the file itself, and not beside a link to it. */
export const ledgerPathOf = (given: string | undefined, list: string): string => {
  const pathOf = (path: string): string => `${path.replace(/\.[a-z]+$/i, "")}.outdial`;
  const path = given ?? pathBeside(list, pathOf, ["a ledger", "--ledger"]);
  return withoutThrowing(() => lstatSync(path))?.isSymbolicLink() ? realPathOf(path) : path;
};

/** A file system may know the time of a change by two seconds only. */
const coarsest = 2_000;

/** Milliseconds between two times at which a lock takes over the age of its ledger. */
const stampInterval = 60_000;

const changeOf = (file: string): number | undefined =>
  statSync(file, { throwIfNoEntry: false })?.mtimeMs;

/**
 * Whether another program emptied a ledger, as a shell does that writes a command's output to it. Where a run was killed while it made
 * the ledger, the lock is as old or younger.
 */
const isEmptied = (file: string): boolean => {
  const lock = changeOf(`${file}-lock`);
  const ledger = statSync(file, { throwIfNoEntry: false });
  return ledger?.size === 0 && lock !== undefined && ledger.mtimeMs > lock + 10; // A time that is set is rounded.
};

const emptied =
  "the ledger was emptied after its last run: a new one would call everybody again. Restore the file; to begin anew, remove the file -lock beside it";

/**
 * When a ledger was last changed; `undefined` if there is none.
 *
 * @throws {Failure} if it is older than its lock, as a restored backup is, or gone or emptied without it: calls would be placed
 * again
 */
export const lastChangeOf = (file: string): Date | undefined => {
  const ledger = changeOf(file);
  const lock = changeOf(`${file}-lock`);
  if (ledger === undefined) {
    if (lock === undefined) return;
    throw new Failure(
      "the ledger is gone, but its lock is there: a new ledger would call everybody again. Put it back; to begin anew, remove the file -lock, too",
      exits.usage,
    );
  }
  if (lock !== undefined && ledger < lock - coarsest) {
    throw new Failure(
      "the ledger is older than its last run: a restored backup lacks the calls since, and would place them again. To dial from it all the same, remove the file -lock beside it",
      exits.usage,
    );
  }
  if (isEmptied(file)) throw new Failure(emptied, exits.usage);
  return new Date(ledger);
};

/**
 * Has the lock of a ledger be as old as the ledger, from now on: a backup that is restored is older.
 *
 * @returns ends that, once the ledger is closed
 */
export const stampLock = (file: string): (() => void) => {
  const stamp = (): void => {
    const changed = changeOf(file);
    try {
      if (changed !== undefined) utimesSync(`${file}-lock`, changed / 1_000, changed / 1_000);
    } catch {
      // Without a lock, or where it may not be written, a backup is not noticed.
    }
  };
  stamp();
  const timer = setInterval(stamp, stampInterval);
  return () => {
    clearInterval(timer);
    stamp();
  };
};

/**
 * Opens the database of a ledger. Telephone numbers are in it, so only its user may read the file.
 *
 * @param create - whether it is made if there is none
 * @throws {Failure} if it cannot be opened
 */
export const openDatabase = async (file: string, create: boolean): Promise<DatabaseSync> => {
  const Database = await sqlite();
  try {
    checkFile(file, create);
    closeSync(openSync(file, create ? "a" : "r+", 0o600));
    return new Database(file);
  } catch (error) {
    if (error instanceof Failure) throw error;
    throw new Failure(`the ledger cannot be opened: ${causeOf(error)}`, exits.usage);
  }
};

const emptyLedger =
  "the ledger is empty: the run that made it was killed before it had read its list, and has called nobody. Run outdial dial again";

/** What is wrong with a file that is no ledger: one whose first transaction was undone has no table at all. */
const notLedger = (file: string, database: DatabaseSync, error: unknown): unknown => {
  if (!(error instanceof LedgerException) || error.reason !== "not_a_ledger") return error;
  const [row] = database.prepare("select count(*) as tables from sqlite_master").all();
  if (row?.tables !== 0) return error;
  return new Failure(isEmptied(realPathOf(file)) ? emptied : emptyLedger, exits.usage);
};

/**
 * A ledger in memory.
 *
 * @throws {Failure} if this runtime has no SQLite
 */
export const openTemporary = async (): Promise<DatabaseSync> => new (await sqlite())(":memory:");

/**
 * Opens the ledger in a file that exists, uses it, and closes it.
 *
 * @throws {Failure} if it cannot be opened, or is not a ledger
 */
export const withLedger = async <T>(
  file: string,
  use: (ledger: OpenedLedger, files: () => RecordingFiles) => Promise<T>,
  options?: LedgerOptions,
): Promise<T> => {
  const database = await openDatabase(file, false);
  try {
    // A run commits now and then: this command can wait for it.
    database.exec("pragma busy_timeout = 5000");
    return await use(openLedger(database, options), () => recordingFiles(database));
  } catch (error) {
    throw ledgerFailure(notLedger(file, database, error));
  } finally {
    database.close();
  }
};

/** Rows that a preview copies at once, so that it holds up no run. */
const page = 500;

/**
 * A temporary copy of a ledger, on which changes can be tried out; an empty one if there is none. It is in
 * memory while it is small.
 *
 * @throws {Failure} if it cannot be opened
 */
export const openPreview = async (file: string): Promise<DatabaseSync> => {
  const Database = await sqlite();
  const copy = new Database("");
  if (!existsSync(file)) return copy;
  const ledger = await openDatabase(file, false);
  try {
    ledger.exec("pragma busy_timeout = 5000");
    const objects = ledger
      .prepare(
        "select type, name, sql from sqlite_master where name like 'outdial_%' and sql <> ''",
      )
      .all()
      .map(({ type, name, sql }) => ({ type: String(type), name: String(name), sql: String(sql) }));
    const tables = objects.filter(({ type }) => type === "table");
    copy.exec("begin");
    for (const { name, sql } of tables) {
      copy.exec(sql);
      copyRows(ledger, copy, name);
    }
    for (const { type, sql } of objects) if (type !== "table") copy.exec(sql);
    copy.exec("commit");
    return copy;
  } finally {
    ledger.close();
  }
};

/** Copies a table in pages, by its primary key. */
const copyRows = (from: DatabaseSync, to: DatabaseSync, table: string): void => {
  const columns = from
    .prepare(`select name, pk from pragma_table_info('${table}') order by pk`)
    .all();
  const keys = columns.filter(({ pk }) => Number(pk) > 0).map(({ name }) => String(name));
  const names = columns.map(({ name }) => String(name));
  const marks = (count: number): string => Array.from({ length: count }, () => "?").join(", ");
  const insert = to.prepare(
    `insert into ${table} (${names.join(", ")}) values (${marks(names.length)})`,
  );
  const order = `order by ${keys.join(", ")} limit ${page}`;
  const first = from.prepare(`select ${names.join(", ")} from ${table} ${order}`);
  const next = from.prepare(
    `select ${names.join(", ")} from ${table} where (${keys.join(", ")}) > (${marks(keys.length)}) ${order}`,
  );
  let rows = first.all();
  while (rows.length > 0) {
    for (const row of rows) insert.run(...Object.values(row));
    const last = rows.at(-1);
    if (rows.length < page || !last) return;
    rows = next.all(...keys.map((key) => last[key] ?? null));
  }
};
