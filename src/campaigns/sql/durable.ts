import type { Param, Row, Sql } from "./sql.ts";

/** What is used of a Durable Object's storage (`ctx.storage`), one with SQLite. */
export interface DurableStorage {
  /** Runs a statement, and gives its rows. */
  readonly sql: { exec(statement: string, ...values: Param[]): { toArray(): Row[] } };
  /** Runs it all, or nothing of it. */
  transactionSync<T>(work: () => T): T;
}

/**
 * The ledger in a Durable Object. Its output gate holds back what is sent until what was written is
 * durable, and there is one object of a name: so neither a sync nor a lock is needed.
 */
export const durableSql = (storage: DurableStorage): Sql => ({
  all: (statement, ...values) => storage.sql.exec(statement, ...values).toArray(),
  transaction: (work) => storage.transactionSync(work),
  relaxed: (work) => storage.transactionSync(work),
  lock: () => {},
  unlock: () => {},
  unfolded: () => 0,
  fold: () => {},
  hasLog: () => true,
  scrub: () => {},
});
