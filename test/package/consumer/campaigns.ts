import type { Call } from "outdial";
import type { Received } from "outdial/callbacks";
import {
  type Added,
  type AnswerFigures,
  type AuditEntry,
  type CalledContact,
  type CallInput,
  type CallOutcome,
  type CallState,
  type Campaign,
  type CampaignOptions,
  type CheckOptions,
  type Contact,
  type CostFigures,
  type Database,
  type Disposition,
  type DispositionFacts,
  type DurableStorage,
  dispositions,
  type EndedCalls,
  type Figures,
  type KeptRecording,
  type Ledger,
  LedgerException,
  type LedgerOptions,
  type LedgerReason,
  type ListColumns,
  ListException,
  type ListOptions,
  type ListRows,
  type ListSource,
  type LiveServices,
  type NamedService,
  type NumberReading,
  type OpenCall,
  type OpenedLedger,
  openCampaign,
  openLedger,
  type Param,
  type People,
  type Progress,
  type QuarterFigures,
  type RefusedContact,
  type Result,
  type RetryPlan,
  type RetryReason,
  type RetryRule,
  type RetryRules,
  type Row,
  readList,
  type Script,
  type ScriptCampaign,
  type ScriptInput,
  type ScriptStep,
  type Sender,
  type ServiceFigures,
  type ServicesOptions,
  type Statement,
  type Storage,
  type Synced,
  type SyncOptions,
  type SyncPlan,
  type UrlCheck,
  type Value,
  type WholeRetryRule,
  type Window,
} from "outdial/campaigns";
import { gather, hangup } from "outdial/flows";
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

const isEmpty = ({ count, lines }: ListRows): boolean => count === 0 && lines.length === 0;
const isPlain = ({ sharedIds, corrected }: People): boolean =>
  isEmpty(sharedIds) && isEmpty(corrected);

/** The list decides: who is no longer in it is not called again. */
export const replace = async (campaign: Campaign): Promise<boolean> => {
  const confirm = (plan: SyncPlan): boolean => plan.removed < 10 && isPlain(plan);
  const options: SyncOptions = { doNotCall: ["+12025550101"], confirm };
  const { applied }: Synced = await campaign.sync(contacts, options);
  return applied;
};

export const note = (campaign: Campaign, given: Received | CallOutcome): Promise<boolean> =>
  campaign.note(given);

export const reported = (storage: Database | DurableStorage): readonly string[] => {
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

/** The rules of a survey: a reason has a rule of its own. */
const busy: RetryRule = { after: 300_000, attempts: 3 };
export const rules: RetryRules = { busy, no_answer: { after: 7_200_000 } };
export const isRetried = (name: Disposition): boolean => {
  const { retry }: DispositionFacts = dispositions[name];
  return retry;
};
export const firstRule = ({
  retries,
}: {
  readonly retries: RetryPlan;
}): WholeRetryRule | undefined => Object.values(retries)[0];

/** Whether both handlers verify by the campaign's secret. */
export const areReady = async (campaign: Campaign, options: CheckOptions): Promise<boolean> => {
  const checked: readonly UrlCheck[] = await campaign.check(options);
  return checked.every(({ result }) => result === "accepted");
};

/** Notes an answer, and ends everything in an emergency. */
export const noteInput = (campaign: Campaign, input: CallInput): Promise<boolean> =>
  campaign.note(input);
export const stopCalls = async (campaign: Campaign): Promise<readonly OpenCall[]> => {
  const { failed, unclear }: EndedCalls = await campaign.endCalls();
  return [...failed, ...unclear];
};
export const stop = async (ledger: OpenedLedger): Promise<EndedCalls> => {
  await ledger.stop();
  return ledger.endCalls({ end: async () => {} });
};
export const isLive = ({ state }: CallState): boolean => state === "answered";

/** Reads a list as the command does. */
export const readContacts = async (source: ListSource): Promise<Contact[]> => {
  const readNumber = (cell: string): NumberReading =>
    cell.startsWith("+") ? { number: cell } : { reason: "lacks its country code" };
  const onColumns = ({ header }: ListColumns) => void console.log(header);
  const options: ListOptions = { readNumber, onColumns };
  const contacts: Contact[] = [];
  try {
    for await (const contact of readList(source, options)) contacts.push(contact);
  } catch (error) {
    if (!(error instanceof ListException)) throw error;
  }
  return contacts;
};

const optOut: ScriptStep<never> = async ({ contact, campaign }: ScriptInput) => {
  const { to_number }: CalledContact = contact;
  const list: ScriptCampaign = campaign;
  await list.block(to_number);
  return hangup();
};

/** A file of `outdial dial --script`. */
export const script: Script<"optOut"> = {
  onAnswer: () => gather("9 for no more calls.", { digits: 1, on: { 9: "optOut" } }),
  steps: { optOut },
};

export const figuresOf = ({
  figures,
}: OpenedLedger): readonly (QuarterFigures | AnswerFigures | CostFigures | undefined)[] => {
  const { quarters, answers, costs }: Figures = figures({ from: 0 });
  return [quarters[0], answers[0], costs[0]];
};

/** A list over several services. */
export const dialBySeveral = async (
  storage: Storage,
  own: readonly NamedService[],
  given: Received,
): Promise<boolean> => {
  const options: ServicesOptions = {
    ...{ secret: "a secret that was made at random", services: own },
    ...{ window: "always" },
  };
  await using campaign = await openCampaign(storage, options);
  const sender: Sender = { service: "main" };
  return campaign.note(given, sender);
};
export const ofServices = ({ figures }: OpenedLedger): readonly ServiceFigures[] =>
  figures().services ?? [];
export const endAll = (ledger: OpenedLedger): Promise<EndedCalls> => {
  const live: LiveServices = { services: { main: { end: async () => {} } } };
  return ledger.endCalls(live);
};
export const recordingsOf = ({ recordings }: Result): readonly KeptRecording[] => recordings;
