import type { Sql } from "../../sql/sql.ts";
import { audit } from "../audit.ts";
import { contactIn, move } from "../contact.ts";

/** Whether a number is on the do-not-call list. */
export const isBlocked = (sql: Sql, to_number: string): boolean =>
  sql.all("select 1 from outdial_blocked where to_number = ?", to_number).length > 0;

/** Whether anybody is on the list. */
export const hasBlocked = (sql: Sql): boolean =>
  sql.all("select 1 from outdial_blocked limit 1").length > 0;

/**
 * Puts numbers on the do-not-call list; who waits to be called is skipped at once.
 *
 * @returns how many are new on it
 */
export const block = (sql: Sql, numbers: Iterable<string>, at: number): number =>
  sql.transaction(() => {
    let added = 0;
    for (const number of numbers) {
      const isNew = sql.all(
        "insert into outdial_blocked values (?) on conflict do nothing returning 1 as one",
        number,
      ).length;
      if (!isNew) continue;
      added++;
      const [row] = sql.all("select * from outdial_contact where to_number = ?", number);
      if (!row) continue;
      const contact = contactIn(row);
      audit(sql, { at, contact: contact.contact, event: "blocked" });
      if (contact.state === "waiting") move(sql, contact, "skipped", { at, reason: "blocked" });
    }
    return added;
  });
