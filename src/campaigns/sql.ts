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
