import type { Secret } from "../../../callbacks/url/token.ts";
import type { Sql } from "../../sql/sql.ts";
import { audit } from "../audit.ts";
import { contactIn, move } from "../contact.ts";
import { tombstonesOf } from "./tombstone.ts";

/**
 * Takes contacts out of the ledger, all but that they were in it: an HMAC of the number stays on the
 * do-not-call list, so that it is refused from then on. What one who is being called comes to is still
 * counted.
 *
 * @returns how many were erased
 */
export const erase = async (
  sql: Sql,
  numbers: Iterable<string>,
  secret: Secret,
  at: number,
): Promise<number> => {
  let erased = 0;
  // All are read before any is erased: a list with a mistake in it erases nobody.
  for (const number of [...numbers]) {
    const [tombstone = ""] = await tombstonesOf(secret, number);
    sql.transaction(() => {
      sql.all("delete from outdial_blocked where to_number = ?", number);
      sql.all("insert into outdial_blocked values (?) on conflict do nothing", tombstone);
      const [row] = sql.all("select * from outdial_contact where to_number = ?", number);
      if (!row) return;
      const { contact, state, ...rest } = contactIn(row);
      sql.all(
        `update outdial_contact set to_number = '#' || contact, id = null, variables = null,
         call_id = null, reason = null, timezone = '' where contact = ?`,
        contact,
      );
      // A service may have said anything.
      sql.all("update outdial_audit set detail = null where contact = ?", contact);
      sql.all("update outdial_attempt set detail = null where contact = ?", contact);
      const reason = "erased";
      if (state === "waiting") move(sql, { ...rest, contact, state }, "skipped", { at, reason });
      audit(sql, { at, contact, event: "erased" });
      erased++;
    });
  }
  sql.scrub();
  return erased;
};
