/** What a ledger writes. */
export type Param = string | number | null;

/** What a cell of SQLite may hold. */
export type Value = string | number | bigint | null | Uint8Array | ArrayBuffer;

/** A row by the names of its columns. */
export type Row = Readonly<Record<string, Value>>;

/** The SQLite under a ledger, wherever it lives. Everything is synchronous. */
export interface Sql {
  /** Runs one statement to its end, and gives its rows. */
  all(statement: string, ...values: Param[]): readonly Row[];
  /** Does all of the work or nothing of it; what has been done is durable before anything is sent. */
  transaction<T>(work: () => T): T;
  /**
   * The same, but durable only once a `transaction` that follows is: the end of the process doesn't undo
   * it, a power cut may, and then everything since with it. For what leaves a claim standing, or a list to
   * be added again, when it is gone: that calls nobody twice.
   */
  relaxed<T>(work: () => T): T;
  /**
   * Keeps everybody else from dialling out of this ledger, until `unlock` or the end of the process.
   *
   * @throws {LedgerException} `in_use`
   */
  lock(): void;
  /** Lets the next one dial. */
  unlock(): void;
  /** How many rows were changed since the log was folded last; 0 where there is no log. */
  unfolded(): number;
  /** Brings what the log has into the file. */
  fold(): void;
  /** Whether there is a log with something in it, folded or not. */
  hasLog(): boolean;
  /** Leaves no byte of what was deleted. */
  scrub(): void;
}
