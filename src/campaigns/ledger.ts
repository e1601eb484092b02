import { numbersIn } from "./contacts/numbers.ts";
import { type AuditEntry, readAudit } from "./ledger/audit.ts";
import { block } from "./ledger/barred/blocked.ts";
import { type Progress, progressOf } from "./ledger/campaign/progress.ts";
import { requireLog } from "./ledger/log.ts";
import { type Result, readResults } from "./ledger/results.ts";
import { requireTables } from "./ledger/tables.ts";
import { type Database, databaseSql } from "./sql/database.ts";
import { type DurableStorage, durableSql } from "./sql/durable.ts";
import type { Sql } from "./sql/sql.ts";

/**
 * Where a campaign lives: an open `DatabaseSync` of `node:sqlite` (Node, Deno, Bun), a `Database` of
 * `bun:sqlite`, or the storage of a Durable Object with SQLite.
 */
export type Storage = Database | DurableStorage;

export const sqlOf = (storage: Storage): Sql =>
  "transactionSync" in storage ? durableSql(storage) : databaseSql(storage);

/** What may be asked of a campaign without dialling. */
export interface Ledger {
  /** How many contacts stand where: it costs the same in a short and in a long list. */
  readonly progress: () => Progress;
  /** What became of each contact, in the order of the list; read as it is taken. */
  readonly results: () => Iterable<Result>;
  /** Every change of state with its time, in order; read as it is taken. */
  readonly audit: () => Iterable<AuditEntry>;
  /**
   * Puts numbers on the do-not-call list, at any time: who waits is skipped at once.
   *
   * @returns how many are new on it
   * @throws {BadParametersException} (`placed: "no"`) when one is no E.164 number; none is added then
   */
  readonly block: (numbers: string | Iterable<string>) => number;
}

export const ledgerOf = (sql: Sql, clock: () => number): Ledger => ({
  progress: () => progressOf(sql),
  results: () => readResults(sql),
  audit: () => readAudit(sql),
  block: (numbers) => block(sql, numbersIn(numbers), clock()),
});

/**
 * Opens the ledger of a campaign to look at it, or to block a number, also while another process dials
 * from it.
 *
 * @param storage - the database that a campaign lives in
 * @throws {LedgerException} `not_a_ledger`, `newer` or `log_missing`
 *
 * @example Export what has become of a list
 * ```ts
 * import { DatabaseSync } from "node:sqlite";
 * import { openCampaign, openLedger } from "outdial/campaigns";
 *
 * const database = new DatabaseSync(":memory:"); // a file, in earnest
 * const campaign = await openCampaign(database, {
 *   from_number: "+12025550199",
 *   flow_url: "https://app.test/flow",
 *   status_callback_url: "https://app.test/status",
 *   secret: "a secret that was made at random",
 *   create: async () => ({ id: "cs_1" }),
 *   window: "always",
 * });
 * await campaign.add([{ to_number: "+12025550100" }]);
 *
 * const ledger = openLedger(database);
 * console.log(ledger.block("+12025550100")); // 1
 * for (const { to_number, disposition } of ledger.results()) {
 *   console.log(to_number, disposition); // +12025550100 skipped
 * }
 * ```
 */
export const openLedger = (storage: Storage): Ledger => {
  const sql = sqlOf(storage);
  requireTables(sql);
  requireLog(sql);
  return ledgerOf(sql, Date.now);
};
