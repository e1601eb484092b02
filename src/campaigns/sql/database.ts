import { LedgerException } from "../ledger-exception.ts";
import type { Param, Row, Sql } from "./sql.ts";

/** What is used of a statement of a database. */
export interface Statement {
  /** Runs it with values for its marks, and gives its rows. */
  all(...values: Param[]): Row[];
}

/** What is used of a `DatabaseSync` of `node:sqlite` (Node, Deno, Bun) or a `Database` of `bun:sqlite`. */
export interface Database {
  /** Runs statements that give nothing. */
  exec(statements: string): unknown;
  /** Makes a statement that is run more than once. */
  prepare(statement: string): Statement;
  /** Closes the file. */
  close(): unknown;
}

/**
 * A write-ahead log that is synced at every commit but the relaxed ones, and folded into the file by the ledger
 * alone, and seldom: numbers in no order touch a page of the index each, again and again; deleted bytes are overwritten. Somebody else's
 * short write is waited for.
 */
const settings = `
  pragma busy_timeout = 10000;
  pragma synchronous = full;
  pragma wal_autocheckpoint = 0;
  pragma secure_delete = on;
  pragma cache_size = -8000;
  pragma foreign_keys = off;`;

const isBusy = (error: unknown): boolean => {
  const { errcode, code, message } = Object(error);
  return errcode === 5 || code === "SQLITE_BUSY" || /database is locked/.test(message);
};

/** A database file, or `:memory:`. */
class FileSql implements Sql {
  readonly #database: Database;
  readonly #statements = new Map<string, Statement>();
  #lock: Database | undefined;
  #folded = 0;

  constructor(database: Database) {
    this.#database = database;
    database.exec(settings);
  }

  /** Not before somebody dials from it: whoever only looks changes nothing of a file, whosever it is. */
  #makeDurable(): void {
    this.#database.exec("pragma journal_mode = wal");
    const [{ journal_mode } = {}] = this.all("pragma journal_mode");
    const [{ synchronous } = {}] = this.all("pragma synchronous");
    if (journal_mode !== "wal" || synchronous !== 2) throw new LedgerException("not_durable");
  }

  all(statement: string, ...values: Param[]): readonly Row[] {
    let prepared = this.#statements.get(statement);
    if (!prepared) {
      prepared = this.#database.prepare(statement);
      this.#statements.set(statement, prepared);
    }
    return prepared.all(...values);
  }

  transaction<T>(work: () => T): T {
    this.all("begin immediate");
    try {
      const done = work();
      this.all("commit");
      return done;
    } catch (error) {
      try {
        this.all("rollback");
      } catch {
        // A full disk has rolled it back already; what is wrong is the first error.
      }
      throw error;
    }
  }

  relaxed<T>(work: () => T): T {
    // It is the commit that reads it, and no statement that is kept can set it.
    this.#database.exec("pragma synchronous = normal");
    try {
      return this.transaction(work);
    } finally {
      this.#database.exec("pragma synchronous = full");
    }
  }

  /** A lock of the operating system, on a file of its own: it is gone with the process, however that ends. */
  lock(): void {
    if (!this.#path || this.#lock) return;
    this.#makeDurable();
    // The same class opens the second file, so that no runtime's module is imported here.
    const lock: Database = new (Object(this.#database).constructor)(`${this.#path}-lock`);
    try {
      lock.exec("pragma busy_timeout = 0; begin exclusive");
    } catch (error) {
      lock.close();
      if (isBusy(error)) throw new LedgerException("in_use");
      throw error;
    }
    this.#lock = lock;
  }

  unlock(): void {
    this.#lock?.close();
    this.#lock = undefined;
  }

  unfolded(): number {
    return this.#path ? this.#changes - this.#folded : 0;
  }

  fold(): void {
    if (this.#path) this.all("pragma wal_checkpoint(passive)");
    this.#folded = this.#changes;
  }

  hasLog(): boolean {
    // To fold is the only way to ask. Busy: somebody is folding what is there.
    const [{ busy, log } = {}] = this.all("pragma wal_checkpoint(passive)");
    return !!busy || Number(log) > 0;
  }

  get #changes(): number {
    return Number(this.all("select total_changes() as changes")[0]?.changes);
  }

  scrub(): void {
    if (!this.#path) return;
    try {
      // What is deleted is overwritten, but a page that was split may have kept a copy.
      this.all("vacuum");
      const [{ busy } = {}] = this.all("pragma wal_checkpoint(truncate)");
      if (!busy) return;
    } catch {
      // Deno forbids it where it grants less than the whole file system.
    }
    throw new LedgerException("not_scrubbed");
  }

  /** Empty for a database in memory. */
  get #path(): string {
    return String(this.all("pragma database_list")[0]?.file ?? "");
  }
}

/** The ledger in a database that the caller opened. */
export const databaseSql = (database: Database): Sql => new FileSql(database);
