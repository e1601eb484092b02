import { hex } from "../../../bytes/hex.ts";
import { macOf } from "../../../bytes/hmac.ts";
import { utf8 } from "../../../bytes/utf8.ts";
import { type Secret, secretsOf } from "../../../callbacks/url/token.ts";
import type { Sql } from "../../sql/sql.ts";
import { audit } from "../audit.ts";
import { factOf, setFact } from "../campaign/facts.ts";
import { contactIn, move } from "../contact.ts";

/** What stands in for the number of an erased contact, by each of the secrets; the first one is used. */
const tombstones = (secret: Secret, to_number: string): Promise<readonly string[]> =>
  Promise.all(
    secretsOf(secret).map(
      async (each) => `#${hex(await macOf(each, utf8(`erased:${to_number}`)))}`,
    ),
  );

/**
 * Takes contacts out of the ledger, all but that they were in it: an HMAC of the number stays, so that
 * it is refused from then on. What one who is being called comes to is still counted.
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
  for (const number of numbers) {
    const [tombstone = ""] = await tombstones(secret, number);
    sql.transaction(() => {
      setFact(sql, "erases", "yes");
      sql.all("delete from outdial_blocked where to_number = ?", number);
      const [row] = sql.all("select * from outdial_contact where to_number = ?", number);
      if (!row) return bury(sql, tombstone, at);
      const contact = contactIn(row);
      if (contact.state === "waiting") move(sql, contact, "skipped", { at, reason: "erased" });
      sql.all(
        `update outdial_contact set to_number = ?, id = null, variables = null, call_id = null,
         timezone = '' where contact = ?`,
        tombstone,
        contact.contact,
      );
      sql.all(
        "update outdial_audit set detail = null where contact = ? and event = 'placed'",
        contact.contact,
      );
      audit(sql, { at, contact: contact.contact, event: "erased" });
      erased++;
    });
  }
  sql.scrub();
  return erased;
};

/** A number that isn't in the campaign is kept out of it too. */
const bury = (sql: Sql, tombstone: string, at: number): void => {
  sql.all(
    `insert into outdial_contact (to_number, timezone, line, added, state, reason)
     values (?, '', 0, ?, 'skipped', 'erased') on conflict do nothing`,
    tombstone,
    at,
  );
};

/** Tells whether a number was erased; `undefined` where none was. */
export const erasedIn = (
  sql: Sql,
  secret: Secret,
): ((to_number: string) => Promise<boolean>) | undefined => {
  if (factOf(sql, "erases") === null) return;
  return async (to_number) => {
    const stones = await tombstones(secret, to_number);
    return stones.some(
      (stone) => sql.all("select 1 from outdial_contact where to_number = ?", stone).length > 0,
    );
  };
};
