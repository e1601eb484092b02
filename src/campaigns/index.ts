/**
 * Calls a list: each contact at most once an attempt, paced, within calling hours, and resumable.
 *
 * @module
 */
export { type Campaign, openCampaign } from "./campaign.ts";
export type { Added } from "./contacts/add.ts";
export type { Contact, RefusedContact } from "./contacts/contact.ts";
export type { Disposition } from "./disposition.ts";
export type { AuditEntry } from "./ledger/audit.ts";
export type { Progress } from "./ledger/campaign/progress.ts";
export type { Result } from "./ledger/results.ts";
export { type Ledger, openLedger, type Storage } from "./ledger.ts";
export { LedgerException, type LedgerReason } from "./ledger-exception.ts";
export type { CampaignOptions, RetryReason } from "./options.ts";
export type { Database, Statement } from "./sql/database.ts";
export type { DurableStorage } from "./sql/durable.ts";
export type { Param, Row, Value } from "./sql/sql.ts";
export type { Window } from "./window/window.ts";
