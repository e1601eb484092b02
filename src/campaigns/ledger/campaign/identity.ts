import { hex } from "../../../bytes/hex.ts";
import { utf8 } from "../../../bytes/utf8.ts";
import { LedgerException } from "../../ledger-exception.ts";
import type { CampaignSettings } from "../../settings.ts";
import type { Sql } from "../../sql/sql.ts";
import { audit } from "../audit.ts";
import { factOf, setFact } from "./facts.ts";

/**
 * Gives a new ledger its campaign, or makes sure that it has this one. What is kept is a digest: a
 * URL may hold a secret of the caller's.
 *
 * @throws {LedgerException} `other_campaign`
 */
export const identify = async (
  sql: Sql,
  { from_number, flow_url, service, clock }: CampaignSettings,
): Promise<void> => {
  const text = JSON.stringify([from_number, flow_url, service]);
  const digest = hex(new Uint8Array(await crypto.subtle.digest("SHA-256", utf8(text))));
  const known = factOf(sql, "identity");
  if (known === digest) return;
  if (known !== null) throw new LedgerException("other_campaign");
  sql.transaction(() => {
    setFact(sql, "identity", digest);
    setFact(sql, "id", hex(crypto.getRandomValues(new Uint8Array(8))));
    setFact(sql, "state", "running");
    audit(sql, { at: clock(), event: "opened" });
  });
};
