import type { Call } from "outdial";
import type { Received } from "outdial/callbacks";
import {
  type Added,
  type AuditEntry,
  type Campaign,
  type CampaignOptions,
  type Contact,
  type Database,
  type Disposition,
  type DurableStorage,
  type Ledger,
  LedgerException,
  type LedgerOptions,
  type LedgerReason,
  openCampaign,
  openLedger,
  type Param,
  type Progress,
  type RefusedContact,
  type Result,
  type RetryReason,
  type Row,
  type Statement,
  type Storage,
  type Synced,
  type SyncOptions,
  type SyncPlan,
  type Value,
  type Window,
} from "outdial/campaigns";
import { params } from "./params.ts";

const retryOn: readonly RetryReason[] = ["busy", "no_answer"];
const { from_number, flow_url, status_callback_url, to_number } = params;
const contacts: readonly Contact[] = [{ to_number, id: "4711", timezone: "Europe/Berlin" }];

/** What a program in any runtime does with a list; the storage is its own. */
export const dial = async (
  storage: Storage,
  create: (params: CampaignParams) => Promise<Call>,
  window: Window,
): Promise<Progress> => {
  const options: CampaignOptions = {
    ...{ from_number, flow_url, status_callback_url, create, window, retryOn },
    ...{ secret: "a secret that was made at random", rate: 5 },
  };
  await using campaign: Campaign = await openCampaign(storage, options);
  const { refused }: Added = await campaign.add(contacts);
  const lines = refused.map(({ line, reason }: RefusedContact) => `${line}: ${reason}`);
  return lines.length > 0 ? campaign.progress() : campaign.run();
};
type CampaignParams = Parameters<CampaignOptions["create"]>[0];

/** The list decides: who is no longer in it is not called again. */
export const replace = async (campaign: Campaign): Promise<boolean> => {
  const confirm = ({ removed }: SyncPlan): boolean => removed < 10;
  const options: SyncOptions = { doNotCall: ["+12025550101"], confirm };
  const { applied }: Synced = await campaign.sync(contacts, options);
  return applied;
};

export const note = (campaign: Campaign, received: Received): Promise<boolean> =>
  campaign.note(received);

export const told = (storage: Database | DurableStorage): readonly string[] => {
  const options: LedgerOptions = { secret: "a secret that was made at random" };
  const ledger: Ledger = openLedger(storage, options);
  const ends: (Disposition | undefined)[] = [...ledger.results()].map(
    ({ disposition }: Result) => disposition,
  );
  return [...[...ledger.audit()].map(({ event }: AuditEntry) => event), ...ends.map(String)];
};

export const why = (error: unknown): LedgerReason | undefined =>
  error instanceof LedgerException ? error.reason : undefined;

/** A database of one's own, by what goes in and what comes out. */
export const first = (
  { prepare }: Database,
  statement: string,
  ...values: readonly Param[]
): Value | undefined => {
  const prepared: Statement = prepare(statement);
  const [row]: readonly Row[] = prepared.all(...values);
  return row?.state;
};
