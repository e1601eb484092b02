/**
 * Calls a list: each contact at most once an attempt, paced, within calling hours, and resumable.
 *
 * @module
 */

export type { Window } from "./calling-hours.ts";
export { type Campaign, openCampaign } from "./campaign.ts";
export type { Added, Contact, RefusedContact } from "./contacts.ts";
export type { Disposition } from "./disposition.ts";
export { LedgerException, type LedgerReason } from "./errors.ts";
export { type Ledger, type LedgerOptions, openLedger, type Result } from "./ledger.ts";
export type { CampaignOptions, CampaignService, RetryReason } from "./options.ts";
export type { Progress } from "./progress.ts";
export type { Database, DurableStorage, Param, Row, Statement, Storage, Value } from "./sqlite.ts";
export type { Synced, SyncOptions, SyncPlan } from "./sync.ts";
export type { AuditEntry } from "./tables.ts";
