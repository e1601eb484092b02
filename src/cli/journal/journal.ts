import { closeSync, openSync } from "node:fs";
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

/** What is wrong with a journal, as the user of a command is told. */
export const journalFailure = (error: unknown): unknown =>
  error instanceof LedgerException
    ? new Failure(error.message.replace("ledger", "journal"), exits.usage, { reason: error.reason })
    : error;

/** A journal without a name, gone with the process: in memory while it is small, so that no list fills that. */
export const temporary = "";

/**
 * Opens a journal's file. It has people's numbers in it: nobody else may read it.
 *
 * @throws {Failure} when it can't be opened
 */
export const openJournal = async (file: string, flags: "a" | "r+"): Promise<DatabaseSync> => {
  const Database = await sqlite();
  try {
    if (file !== temporary) closeSync(openSync(file, flags, 0o600));
    return new Database(file);
  } catch (error) {
    throw new Failure(`the journal can't be opened (${Object(error).code})`, exits.usage);
  }
};

/**
 * Opens a journal that is there, to look at it.
 *
 * @throws {Failure} when it can't be opened, or is none
 */
export const openExisting = async (file: string): Promise<Ledger> => {
  const database = await openJournal(file, "r+");
  try {
    return openLedger(database);
  } catch (error) {
    throw journalFailure(error);
  }
};
