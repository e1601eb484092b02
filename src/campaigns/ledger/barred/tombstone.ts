import { hex } from "../../../bytes/hex.ts";
import { macOf } from "../../../bytes/hmac.ts";
import { utf8 } from "../../../bytes/utf8.ts";
import { type Secret, secretsOf } from "../../../callbacks/url/token.ts";
import type { Sql } from "../../sql/sql.ts";
import { isBlocked } from "./blocked.ts";

/**
 * What is kept of an erased number, by each of the secrets; the first one is used. It stands on the
 * do-not-call list, where no number begins with a `#`.
 */
export const tombstonesOf = (secret: Secret, to_number: string): Promise<readonly string[]> =>
  Promise.all(
    secretsOf(secret).map(
      async (each) => `#${hex(await macOf(each, utf8(`erased:${to_number}`)))}`,
    ),
  );

/** Whether anybody was erased. */
export const hasErased = (sql: Sql): boolean =>
  sql.all("select 1 from outdial_blocked where to_number >= '#' and to_number < '$' limit 1")
    .length > 0;

/** Whether a number was erased, by its tombstones. */
export const isBuried = (sql: Sql, tombstones: readonly string[]): boolean =>
  tombstones.some((stone) => isBlocked(sql, stone));
