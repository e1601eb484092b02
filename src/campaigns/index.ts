/**
 * Calls a list: each contact at most once an attempt, paced, within calling hours, and resumable.
 *
 * {@link openCampaign} keeps the list in a ledger: a SQLite file, or the storage of a Durable Object. A claim is committed before
 * each request, so a crash causes no second call, and the campaign resumes where it left off. {@link openLedger} reads the
 * results.
 *
 * @see docs/campaigns.md
 *
 * @module
 */

export type { CalledContact, ScriptCampaign } from "../flows/contact.ts";
export type { CallInput, CallOutcome } from "./answers.ts";
export type { Window } from "./calling-hours.ts";
export type { Campaign, Sender } from "./campaign.ts";
export type { CheckOptions, UrlCheck } from "./check.ts";
export type { Added, Contact, RefusedContact } from "./contacts.ts";
export {
  type Disposition,
  type DispositionFacts,
  dispositions,
  type RetryReason,
} from "./disposition.ts";
export type { EndedCalls, LiveServices, OpenCall } from "./ending.ts";
export { LedgerException, type LedgerReason, ListException } from "./errors.ts";
export type {
  AnswerFigures,
  CostFigures,
  Figures,
  QuarterFigures,
  ServiceFigures,
} from "./figures.ts";
export {
  type Ledger,
  type LedgerOptions,
  type OpenedLedger,
  openLedger,
  type Result,
} from "./ledger.ts";
export type { ListColumns, ListOptions, NumberReading } from "./list/columns.ts";
export type { ListSource } from "./list/csv.ts";
export { readList } from "./list/read.ts";
export type { RetryPlan, RetryRule, RetryRules, WholeRetryRule } from "./next-step.ts";
export { openCampaign } from "./open-campaign.ts";
export type {
  CallState,
  CampaignOptions,
  CampaignService,
  NamedService,
  ServicesOptions,
} from "./options.ts";
export type { ListRows, People } from "./people.ts";
export type { Progress } from "./progress.ts";
export type { KeptRecording } from "./recordings.ts";
export type { Script, ScriptInput, ScriptStep } from "./script.ts";
export type { Database, DurableStorage, Param, Row, Statement, Storage, Value } from "./sqlite.ts";
export type { Synced, SyncOptions, SyncPlan } from "./sync.ts";
export type { AuditEntry } from "./tables.ts";
