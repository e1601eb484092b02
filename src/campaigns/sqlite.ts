import { BadParametersException } from "../errors.ts";
import { kindOf } from "../lib/check.ts";
import { LedgerException } from "./errors.ts";
import {
  FileSql,
  hasMethods,
  isBusyError,
  isDatabase,
  longWait,
  retryInterval,
} from "./file-sql.ts";
import type { Database, DurableStorage, Sql, Storage } from "./sql.ts";

export { isBusyError, shortWait } from "./file-sql.ts";
export type {
  Database,
  DurableStorage,
  Param,
  Row,
  Sql,
  Statement,
  Storage,
  Value,
} from "./sql.ts";

const isDurable = (value: unknown): value is DurableStorage => hasMethods(value, "transactionSync");

/**
 * The ledger in a Durable Object. Its output gate holds back what is sent until what was written is
 * durable, and there is one object of a name: so neither a sync nor a lock is needed.
 */
export const durableSql = (storage: DurableStorage): Sql => ({
  all: (statement, ...values) => storage.sql.exec(statement, ...values).toArray(),
  transaction: (work) => storage.transactionSync(work),
  commit: async (work) => storage.transactionSync(work),
  commitAtOnce: async (work) => storage.transactionSync(work),
  temporarily: (work) => storage.transactionSync(work),
  lock: () => {},
  close: () => {},
  requireOpen: () => {},
  isBusy: false,
  isFile: false,
  path: "",
  isLockedAs: () => false,
  hasTemporaryTables: false,
  otherWrites: () => 0,
  compact: () => {},
});

/** The SQL of an open database; what it is, when it is none. */
const fileSqlOf = (database: Database, wait: number): Sql | "a closed one" => {
  try {
    return new FileSql(database, wait);
  } catch (error) {
    if (error instanceof LedgerException && error.reason === "closed") return "a closed one";
    throw error;
  }
};

/**
 * The SQL of a storage.
 *
 * @param wait - how long a busy file blocks, in milliseconds
 * @throws {BadParametersException} when it is neither an open database nor a Durable Object's storage
 * @throws {LedgerException} `busy`
 */
export const sqlOf = (storage: Storage, wait: number = longWait): Sql => {
  if (isDurable(storage)) return durableSql(storage);
  const given = isDatabase(storage) ? fileSqlOf(storage, wait) : kindOf(storage);
  if (typeof given !== "string") return given;
  const message = `must be an open database, such as new DatabaseSync("people.outdial") of node:sqlite, not ${given}`;
  throw new BadParametersException([{ param: "storage", message }]);
};

/**
 * Repeats work while the file is busy, without blocking.
 *
 * @param isOver - whether to give up
 * @throws {LedgerException} `busy`, once it is over
 */
export const whileBusy = async <T>(
  work: () => Promise<T> | T,
  isOver: (triedFor: number) => boolean,
): Promise<T> => {
  const began = performance.now();
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!isBusyError(error) || isOver(performance.now() - began)) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, retryInterval));
  }
};

/** How long an import or an erasure waits for a busy file, in milliseconds. */
export const patience = 10_000;

/** Lets timers and sockets go on between two pages of a long work. */
export const yieldToOthers = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 0));
