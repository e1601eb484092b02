import { closeSync, openSync, statSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import { type Ledger, openLedger } from "../../campaigns/ledger.ts";
import { LedgerException } from "../../campaigns/ledger-exception.ts";
import { exits, Failure } from "../command/failure.ts";

/** @throws {Failure} when this runtime has no SQLite */
const sqlite = async (): Promise<typeof DatabaseSync> => {
  try {
    return (await import("node:sqlite")).DatabaseSync;
  } catch {
    throw new Failure("a journal needs Node 22.13 or later, Deno or Bun", exits.usage);
  }
};

/** What SQLite says, in the same words on every runtime, and what it means for a journal. */
const troubles = [
  [/not a database/, "the journal is none: it is another kind of file"],
  [/malformed/, "the journal is damaged"],
  [/locked/, "the journal is busy: another program holds it"],
  [/readonly/, "the journal can't be written"],
  [/unable to open/, "the journal can't be opened"],
  [/disk|full/, "the journal can't be written: is the disk full?"],
] as const;

/** What is wrong with a journal, as the user of a command is told; anything else is left as it is. */
export const journalFailure = (error: unknown): unknown => {
  if (error instanceof Failure) return error;
  if (error instanceof LedgerException) {
    const message = error.message.replace("ledger", "journal");
    return new Failure(message, exits.usage, { reason: error.reason });
  }
  const { code, message } = Object(error);
  if (!/SQLITE/.test(code) && Object(error).name !== "SQLiteError") return error;
  const [, told] = troubles.find(([says]) => says.test(message)) ?? [];
  return told ? new Failure(told, exits.usage) : error;
};

/** @throws {Failure} when others may read a file that is there */
const requirePrivate = (file: string): void => {
  const { mode = 0 } = statSync(file, { throwIfNoEntry: false }) ?? {};
  if (process.platform === "win32" || !(mode & 0o077)) return;
  throw new Failure("the journal is not yours alone: chmod 600 it", exits.usage);
};

/** A journal without a name, gone with the process: in memory while it is small, so that no list fills that. */
export const temporary = "";

/**
 * Opens a journal's file. It has people's numbers in it: nobody else may read it.
 *
 * @throws {Failure} when it can't be opened
 */
export const openJournal = async (file: string, flags: "a" | "r+"): Promise<DatabaseSync> => {
  const Database = await sqlite();
  if (file === temporary) return new Database(file);
  if (flags === "a") requirePrivate(file);
  try {
    closeSync(openSync(file, flags, 0o600));
    return new Database(file);
  } catch (error) {
    throw new Failure(`the journal can't be opened (${Object(error).code})`, exits.usage);
  }
};

/** Whether it is a journal: before anything of a file that is somebody else's is touched. */
const isJournal = (database: DatabaseSync): boolean =>
  database
    .prepare("select 1 from sqlite_master where type = 'table' and name = 'outdial_fact'")
    .all().length > 0;

/**
 * Opens a journal that is there, to look at it.
 *
 * @throws {Failure} when it can't be opened, or is none
 */
export const openExisting = async (file: string): Promise<Ledger> => {
  const database = await openJournal(file, "r+");
  try {
    if (!isJournal(database)) throw new LedgerException("not_a_ledger");
    return openLedger(database);
  } catch (error) {
    throw journalFailure(error);
  }
};
