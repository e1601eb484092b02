import { hex } from "../../bytes/hex.ts";
import { LedgerException } from "../ledger-exception.ts";
import type { Sql } from "../sql/sql.ts";
import { factOf, setFact } from "./campaign/facts.ts";

/**
 * The claims of a file are in its log (`-wal`) until they are folded into it. A file that is looked at
 * without its log, because that was left behind or deleted or the file has another name now, has
 * forgotten them: whoever dialled from it would call everybody again. So each fold leaves a stamp in the
 * file, and the same one in the log alone. A file whose two stamps differ lacks its log, unless that is
 * there: then the process ended in the middle of a fold.
 */
const names = { file: "folded", log: "logged" } as const;

/** How many changed rows a log holds before it is folded: more make it long, fewer cost time. */
const most = 10_000;

/** @throws {LedgerException} `log_missing` */
export const requireLog = (sql: Sql): void => {
  const isStamped = factOf(sql, names.file) === factOf(sql, names.log);
  if (!isStamped && !sql.hasLog()) throw new LedgerException("log_missing");
};

/** Brings the log into the file, and begins it anew. */
export const fold = (sql: Sql): void => {
  const stamp = hex(crypto.getRandomValues(new Uint8Array(8)));
  sql.transaction(() => setFact(sql, names.file, stamp));
  sql.fold();
  sql.transaction(() => setFact(sql, names.log, stamp));
};

/** Folds a log that has become long. */
export const foldLong = (sql: Sql): void => {
  if (sql.unfolded() > most) fold(sql);
};

/** Lets the file stand alone, once its database is closed. */
export const closeLog = (sql: Sql): void =>
  sql.transaction(() => {
    for (const name of Object.values(names)) setFact(sql, name, "closed");
  });
