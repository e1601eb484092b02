import { LedgerException } from "./errors.ts";
import type { Database, Param, Row, Sql, Statement } from "./sql.ts";

/**
 * A rollback journal that is truncated at each commit, and syncs at each commit: the file alone holds
 * everything that was committed. Deleted bytes are overwritten.
 */
const settings = `
  pragma synchronous = full;
  pragma secure_delete = on;
  pragma cache_size = -8000;
  pragma foreign_keys = off;`;

const journal = "truncate";

/** How long SQLite waits for a busy file where it may block, in milliseconds. */
export const longWait = 10_000;

/**
 * How long SQLite waits where it must not block, in milliseconds. Two locks are waited for at most, one at the
 * beginning of a transaction and one at its end.
 */
export const shortWait = 50;

/** Milliseconds between two tries to write to a busy file. */
export const retryInterval = 100;

/** How long a commit waits for others to share it, in milliseconds. */
const groupingTime = 10;

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : "");

/** An error of SQLite as a `LedgerException` where there is one for it. Not every runtime has the error's code. */
const translated = (error: unknown): unknown => {
  const message = messageOf(error);
  if (/database is locked/.test(message)) return new LedgerException("busy");
  if (/malformed/.test(message)) return new LedgerException("damaged");
  if (/not open|closed database|has closed|been finalized/.test(message))
    return new LedgerException("closed");
  return error;
};

/** Whether an operation failed because another program held the file. */
export const isBusyError = (error: unknown): boolean =>
  error instanceof LedgerException && error.reason === "busy";

export const hasMethods = (value: unknown, ...names: readonly string[]): boolean =>
  typeof value === "object" &&
  value !== null &&
  names.every((name) => typeof Reflect.get(value, name) === "function");

export const isDatabase = (value: unknown): value is Database =>
  hasMethods(value, "exec", "prepare", "close");

/** Work that waits for the next commit. */
interface Pending {
  readonly run: () => void;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** A database file, or `:memory:`. */
export class FileSql implements Sql {
  readonly #database: Database;
  readonly #statements = new Map<string, Statement>();
  readonly hasTemporaryTables = true;
  #lock: Database | undefined;
  #pending: Pending[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;
  #committed = Number.NEGATIVE_INFINITY;
  #isStuck = false;
  #isClosed = false;
  /** Apart from each other: while another program only writes, this one can read. */
  #isReadBusy = false;
  #isWriteBusy = false;
  /** How long SQLite waits for a busy file in general, and now, in milliseconds. */
  readonly #wait: number;
  #waitNow: number;
  /** When the file was waited for in vain, by `performance.now()`. */
  #waited = Number.NEGATIVE_INFINITY;

  constructor(database: Database, wait: number) {
    this.#database = database;
    this.#wait = wait;
    this.#waitNow = wait;
    try {
      database.exec(`pragma busy_timeout = ${wait}; ${settings}`);
    } catch (error) {
      throw translated(error);
    }
  }

  get path(): string {
    return String(this.all("pragma database_list")[0]?.file ?? "");
  }

  get isFile(): boolean {
    return this.path !== "";
  }

  get isBusy(): boolean {
    return this.#isReadBusy || this.#isWriteBusy;
  }

  /** Once it was waited for in vain, the next ones of the same turn don't wait as well: that would add up. */
  #setWait(): void {
    const wait = performance.now() - this.#waited < retryInterval ? 0 : this.#wait;
    if (wait === this.#waitNow) return;
    this.#database.exec(`pragma busy_timeout = ${wait}`);
    this.#waitNow = wait;
  }

  all(statement: string, ...values: Param[]): readonly Row[] {
    try {
      if (this.#waited > Number.NEGATIVE_INFINITY) this.#setWait();
      let prepared = this.#statements.get(statement);
      if (!prepared) {
        prepared = this.#database.prepare(statement);
        this.#statements.set(statement, prepared);
      }
      const rows = prepared.all(...values);
      this.#isReadBusy = false;
      return rows;
    } catch (error) {
      const failure = translated(error);
      this.#isReadBusy = isBusyError(failure);
      if (this.#isReadBusy && this.#waitNow > 0) this.#waited = performance.now();
      throw failure;
    }
  }

  otherWrites(): unknown {
    return this.all("pragma data_version")[0]?.data_version;
  }

  requireOpen(): void {
    if (this.#isClosed) throw new LedgerException("closed");
  }

  transaction<T>(work: () => T): T {
    this.requireOpen();
    try {
      this.#begin();
      const result = this.#whole("rollback", () => {
        const done = work();
        this.all("commit");
        return done;
      });
      this.#isWriteBusy = false;
      return result;
    } catch (error) {
      this.#isWriteBusy = isBusyError(error);
      throw error;
    }
  }

  temporarily(work: () => void): void {
    this.requireOpen();
    if (this.#isStuck) this.#recover();
    this.all("begin");
    this.#whole("rollback", () => {
      work();
      this.all("commit");
    });
  }

  /** Runs work, and undoes it with a statement when it throws. */
  #whole<T>(undo: string, work: () => T): T {
    try {
      return work();
    } catch (error) {
      try {
        this.all(undo);
      } catch (failure) {
        // SQLite itself rolls back where the disk is full: then nothing is left to undo.
        this.#isStuck = !/no transaction|no such savepoint/.test(messageOf(failure));
      }
      throw error;
    }
  }

  #begin(): void {
    if (this.#isStuck) this.#recover();
    this.all("begin immediate");
    if (!this.#lock || this.#journal() === journal) return;
    // Another program has switched the file to a write-ahead log, which is not part of the file.
    this.all("rollback");
    this.#makeDurable("busy");
    this.all("begin immediate");
  }

  /** Undoes what the last transaction left open. */
  #recover(): void {
    try {
      this.all("rollback");
    } catch (error) {
      if (!/no transaction/.test(messageOf(error))) throw new LedgerException("not_rolled_back");
    }
    this.#isStuck = false;
  }

  #journal(): unknown {
    return this.all("pragma journal_mode")[0]?.journal_mode;
  }

  #makeDurable(otherwise: "busy" | "not_durable"): void {
    const [{ journal_mode } = {}] = this.all(`pragma journal_mode = ${journal}`);
    const [{ synchronous } = {}] = this.all("pragma synchronous");
    if (journal_mode !== journal || synchronous !== 2) throw new LedgerException(otherwise);
  }

  commit<T>(work: () => T): Promise<T> {
    const result = this.#toCommit(work);
    if (this.#pending.length > 0 && this.#timer === undefined) {
      const wait = this.#committed + groupingTime - performance.now();
      if (wait <= 0) this.#flush();
      else this.#timer = setTimeout(() => this.#flush(), wait);
    }
    return result;
  }

  commitAtOnce<T>(work: () => T): Promise<T> {
    const result = this.#toCommit(work);
    this.#flush();
    return result;
  }

  /** Work that is done with the next commit; without a file, at once. */
  #toCommit<T>(work: () => T): Promise<T> {
    return new Promise((resolve, reject) => {
      if (!this.#lock) return resolve(this.transaction(work));
      let result: { readonly value: T } | undefined;
      const run = (): void => {
        result = { value: work() };
      };
      this.#pending.push({ run, resolve: () => result && resolve(result.value), reject });
    });
  }

  /** Commits everything that waits. Work that throws fails alone; a failed commit fails for all. */
  #flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const pending = this.#pending.splice(0);
    if (pending.length === 0) return;
    const settled: (() => void)[] = [];
    try {
      this.transaction(() => {
        for (const { run, resolve, reject } of pending) {
          this.all("savepoint work");
          let failed: { readonly error: unknown } | undefined;
          try {
            this.#whole("rollback to work", run);
            settled.push(resolve);
          } catch (error) {
            if (isBusyError(error)) throw error;
            failed = { error };
            settled.push(() => reject(error));
          }
          try {
            this.all("release work");
          } catch (error) {
            // SQLite itself has rolled everything back, as where the disk is full: that is the reason, for all.
            throw failed ? failed.error : error;
          }
        }
      });
      for (const settle of settled) settle();
    } catch (error) {
      for (const { reject } of pending) reject(error);
    }
    this.#committed = performance.now();
  }

  isLockedAs(path: string, query: string): boolean {
    return this.#rowsIn(path, query).length > 0 && this.#isLocked(`${path}-lock`);
  }

  /** Whether a process holds a file, which it then can't read. */
  #isLocked(path: string): boolean {
    try {
      this.#rowsIn(path, "select 1 from sqlite_master");
      return false;
    } catch (error) {
      if (isBusyError(error)) return true;
      throw error;
    }
  }

  /** The rows that another file has; none, where it isn't there or is no database. */
  #rowsIn(path: string, query: string): readonly Row[] {
    let other: unknown;
    try {
      // What `node:sqlite` and `bun:sqlite` call it: no file is made where there is none.
      const options = { readOnly: true, readonly: true };
      other = Reflect.construct(this.#database.constructor, [path, options]);
      return isDatabase(other) ? other.prepare(query).all() : [];
    } catch (error) {
      const failure = translated(error);
      if (isBusyError(failure)) throw failure;
      return [];
    } finally {
      if (isDatabase(other)) other.close();
    }
  }

  /** A lock of the operating system on a second file: it is gone with the process, however that ends. */
  lock(): void {
    const path = this.path;
    if (!path || this.#lock) return;
    // Not before somebody dials: a reader changes nothing of a file.
    this.#makeDurable("not_durable");
    // The same class opens the second file, so that no runtime's module is imported here.
    const lock: unknown = Reflect.construct(this.#database.constructor, [`${path}-lock`]);
    if (!isDatabase(lock)) throw new LedgerException("not_durable");
    try {
      lock.exec("pragma busy_timeout = 0; begin exclusive");
    } catch (error) {
      lock.close();
      throw isBusyError(translated(error)) ? new LedgerException("in_use") : error;
    }
    this.#lock = lock;
  }

  close(): void {
    if (this.#lock) this.#flush();
    this.#isClosed = true;
    try {
      // Removes the empty journal.
      if (this.#lock) this.all("pragma journal_mode = delete");
      this.#database.exec(`pragma busy_timeout = ${longWait}`);
    } catch (error) {
      // An empty journal may stay, and the caller may have closed the database.
      if (!(translated(error) instanceof LedgerException)) throw error;
    } finally {
      this.#lock?.close();
      this.#lock = undefined;
    }
  }

  compact(): void {
    if (!this.path) return;
    try {
      // What is deleted is overwritten, but a page that was split may have kept a copy.
      this.all("vacuum");
    } catch (error) {
      // Deno forbids it where it grants less than the whole file system.
      throw isBusyError(error) ? error : new LedgerException("erase_incomplete");
    }
  }
}
