import { BadParametersException } from "../errors.ts";
import { kindOf } from "../lib/check.ts";
import { LedgerException } from "./errors.ts";

/** What a ledger writes. */
export type Param = string | number | null;

/** What a cell of SQLite may hold. */
export type Value = string | number | bigint | null | Uint8Array | ArrayBuffer;

/** A row by the names of its columns. */
export type Row = Readonly<Record<string, Value>>;

/** What is used of a prepared statement. */
export interface Statement {
  /** Runs it with values for its parameters and returns its rows. */
  all(...values: Param[]): Row[];
}

/** What is used of a `DatabaseSync` of `node:sqlite` (Node, Deno, Bun) or a `Database` of `bun:sqlite`. */
export interface Database {
  /** Runs statements that return nothing. */
  exec(statements: string): unknown;
  /** Prepares a statement that runs more than once. */
  prepare(statement: string): Statement;
  /** Closes the file. */
  close(): unknown;
}

/** What is used of a Durable Object's storage (`ctx.storage`), one with SQLite. */
export interface DurableStorage {
  /** Runs a statement and returns its rows. */
  readonly sql: { exec(statement: string, ...values: Param[]): { toArray(): Row[] } };
  /** Runs it all, or nothing of it. */
  transactionSync<T>(work: () => T): T;
}

/**
 * Where a campaign lives: an open `DatabaseSync` of `node:sqlite` (Node, Deno, Bun), a `Database` of
 * `bun:sqlite`, or the storage of a Durable Object with SQLite.
 */
export type Storage = Database | DurableStorage;

/** The SQLite under a ledger. Statements are synchronous. */
export interface Sql {
  /** Runs one statement and returns its rows. */
  all(statement: string, ...values: Param[]): readonly Row[];
  /** Commits all of the work or nothing of it. */
  transaction<T>(work: () => T): T;
  /**
   * The same, in one transaction with everything else that is committed within 10 ms: on a file, each
   * commit costs several syncs of the disk.
   *
   * @returns the result of the work, once it is durable
   */
  commit<T>(work: () => T): Promise<T>;
  /** The same, together with what waits for its commit, but without a wait for more. */
  commitAtOnce<T>(work: () => T): Promise<T>;
  /**
   * Does work on temporary tables alone, all of it in one transaction: it locks nobody out and waits for nobody. SQLite
   * goes through all changed pages of the temporary tables at the end of each transaction, so one for each row would
   * cost more with each row that is there.
   */
  temporarily(work: () => void): void;
  /**
   * Keeps every other process from dialling out of this ledger, until `close` or the end of the process.
   *
   * @throws {LedgerException} `in_use`, `not_durable` or `busy`
   */
  lock(): void;
  /** Lets another process dial; from now on nothing is written here. The database stays open. */
  close(): void;
  /** @throws {LedgerException} `closed` */
  requireOpen(): void;
  /** Whether another program holds the file: the last transaction failed, or what was read last. */
  readonly isBusy: boolean;
  /** Whether this is a file, which may be copied, cut off and killed in the middle of a write. */
  readonly isFile: boolean;
  /** Where the file is; `""` where there is none. */
  readonly path: string;
  /**
   * Whether a process has the lock of a file, if a query has a row in it.
   *
   * @throws {LedgerException} `busy`
   */
  isLockedAs(path: string, query: string): boolean;
  /** Whether temporary tables may be made. */
  readonly hasTemporaryTables: boolean;
  /** Changes when another connection has written. */
  otherWrites(): unknown;
  /**
   * Removes the bytes of deleted rows.
   *
   * @throws {LedgerException} `busy` or `erase_incomplete`
   */
  compact(): void;
}

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
const longWait = 10_000;

/**
 * How long SQLite waits where it must not block, in milliseconds. Two locks are waited for at most, one at the
 * beginning of a transaction and one at its end.
 */
export const shortWait = 50;

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

const hasMethods = (value: unknown, ...names: readonly string[]): boolean =>
  typeof value === "object" &&
  value !== null &&
  names.every((name) => typeof Reflect.get(value, name) === "function");

const isDatabase = (value: unknown): value is Database =>
  hasMethods(value, "exec", "prepare", "close");

const isDurable = (value: unknown): value is DurableStorage => hasMethods(value, "transactionSync");

/** Work that waits for the next commit. */
interface Pending {
  readonly run: () => void;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** A database file, or `:memory:`. */
class FileSql implements Sql {
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

  constructor(database: Database, wait: number) {
    this.#database = database;
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

  all(statement: string, ...values: Param[]): readonly Row[] {
    try {
      let prepared = this.#statements.get(statement);
      if (!prepared) {
        prepared = this.#database.prepare(statement);
        this.#statements.set(statement, prepared);
      }
      const rows = prepared.all(...values);
      this.#isReadBusy = false;
      return rows;
    } catch (error) {
      const known = translated(error);
      this.#isReadBusy = isBusyError(known);
      throw known;
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
      const known = translated(error);
      if (isBusyError(known)) throw known;
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

/** Milliseconds between two tries to write to a busy file. */
const retryInterval = 100;

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

/** Lets timers and sockets have their turn between two pages of a long work. */
export const yieldToOthers = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 0));
