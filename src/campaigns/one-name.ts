import { hex } from "../lib/encoding.ts";
import { LedgerException } from "./errors.ts";
import type { Sql } from "./sqlite.ts";
import { factOf, setFact } from "./tables.ts";

/** The fact that has the path by which the ledger was opened last for dialling. */
const lastPath = "path";

/** The fact by which two names show that they are one file: a copy that was made before lacks it. */
const mark = "mark";

/**
 * Marks a file as open under its name: who opens it after a crash checks it. The lock belongs to a name, so a file with
 * two (hard links) has two locks.
 *
 * @throws {LedgerException} `in_use`, when a process dials from the same file under another name
 */
export const openUnderOneName = (sql: Sql): void => {
  const { path } = sql;
  if (path === "") return;
  const known = factOf(sql, lastPath);
  const isOtherName = typeof known === "string" && known !== path && factOf(sql, "open") === 1;
  if (isOtherName) {
    const own = hex(crypto.getRandomValues(new Uint8Array(8)));
    sql.transaction(() => setFact(sql, mark, own));
    const isSame = `select 1 from outdial_fact where name = '${mark}' and value = '${own}'`;
    if (sql.isLockedAs(known, isSame)) throw new LedgerException("in_use");
  }
  sql.transaction(() => {
    // Another process was faster.
    if (factOf(sql, lastPath) !== known) throw new LedgerException("busy");
    setFact(sql, lastPath, path);
    setFact(sql, "open", 1);
  });
};
