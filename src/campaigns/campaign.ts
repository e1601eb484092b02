import type { Received } from "../callbacks/handler.ts";
import type { Context } from "../callbacks/signed-url.ts";
import type { CalledContact } from "../flows/contact.ts";
import type { RecordingInput } from "../flows/recorded.ts";
import type { CallInput, CallOutcome } from "./answers.ts";
import type { CheckOptions, UrlCheck } from "./check.ts";
import type { Added, Contact } from "./contacts.ts";
import type { EndedCalls } from "./ending.ts";
import type { Ledger } from "./ledger.ts";
import type { Progress } from "./progress.ts";
import type { Synced, SyncOptions } from "./sync.ts";

/** Who sent what `note` gets. */
export interface Sender {
  /** The name of the service whose handler has verified it; absent where the campaign has one without a name. */
  readonly service?: string | undefined;
}

/** A list of contacts that are called, each at most once an attempt. */
export interface Campaign extends Ledger, AsyncDisposable {
  /** Random, made with the ledger; the signed URLs carry it. */
  readonly id: string;
  /** Calls a second as they are now: `rate`, or less after the service asked for that. */
  readonly rate: number;
  /**
   * When the next call may begin, in milliseconds since 1970; `undefined` when no contact waits. While the
   * file is busy, what was known last.
   */
  readonly nextCall: number | undefined;
  /**
   * When the last contact that waits will be called, in milliseconds since 1970: an estimate that knows the
   * calling hours, and no further attempts. `undefined` when no contact waits, or that is more than a year
   * away. While the file is busy, what was known last.
   *
   * @param callsPerSecond - `rate` unless fewer begin, such as where `concurrency` is the limit
   */
  readonly lastCall: (callsPerSecond?: number) => number | undefined;
  /** Whether another program holds the file: claims wait, and `note` rejects, until it is free. */
  readonly busy: boolean;
  /**
   * Adds contacts, also while calls go on. They are read 5,000 at a time; one whose telephone is in the
   * campaign already is a duplicate and changes nothing but its `timezone`. Where two rows of one list
   * name one number and two time zones, both are refused.
   *
   * @throws what the iterable throws; what came before that is added
   * @throws {LedgerException} `busy`, after 10 s; `closed`
   */
  readonly add: (contacts: Iterable<Contact> | AsyncIterable<Contact>) => Promise<Added>;
  /**
   * Brings the campaign in line with a list: new contacts are added, contacts that are no longer in it
   * get no further attempt, and a changed time zone counts from now on, as do a changed id and variables
   * of a contact that was never called. Nothing changes before the whole list was read and `confirm`
   * has agreed to the plan. Two rows with one telephone and two time zones are both refused.
   *
   * @returns the plan, and whether it was applied
   * @throws what the iterable or `confirm` throws; nothing is changed then
   * @throws {BadParametersException} (`placed: "no"`) when an option is unknown or breaks its rule, such as
   * a number in `doNotCall` that isn't E.164; nothing is changed then
   * @throws {LedgerException} `busy`, after 10 s; `closed`
   *
   * @example Show the plan before it is applied
   * ```ts
   * import { DatabaseSync } from "node:sqlite";
   * import { openCampaign } from "outdial/campaigns";
   *
   * const campaign = await openCampaign(new DatabaseSync(":memory:"), {
   *   from_number: "+12025550199",
   *   flow_url: "https://app.test/flow",
   *   status_callback_url: "https://app.test/status",
   *   secret: "a secret that was made at random",
   *   create: async () => ({ id: "cs_1" }),
   *   window: "always",
   * });
   * await campaign.add([{ to_number: "+12025550100" }]);
   * const { applied } = await campaign.sync([{ to_number: "+12025550101" }], {
   *   confirm: ({ added, removed }) => added === 1 && removed === 1,
   * });
   * console.log(applied, campaign.progress().waiting); // true 1
   * ```
   */
  readonly sync: (
    contacts: Iterable<Contact> | AsyncIterable<Contact>,
    options?: SyncOptions,
  ) => Promise<Synced>;
  /**
   * Asks the handlers at `flow_url` and `status_callback_url` whether they verify by the campaign's secret: a `HEAD` to
   * each, at a URL that is signed for 60 s and names no contact. Each has 5 s. It calls nobody; `run` makes no such
   * request by itself.
   *
   * @returns what each answered. `refused` means that every call would fail
   * @throws {BadParametersException} (`placed: "no"`) when an option breaks its rule
   * @throws the reason of `signal`
   *
   * @example Call nobody by a wrong secret
   * ```ts
   * import { DatabaseSync } from "node:sqlite";
   * import { openCampaign } from "outdial/campaigns";
   * import { flowHandler, hangup } from "outdial/flows";
   *
   * const flow = flowHandler({ secret: "another one, made at random", onAnswer: () => hangup() });
   * const campaign = await openCampaign(new DatabaseSync(":memory:"), {
   *   from_number: "+12025550199",
   *   flow_url: "https://app.test/flow",
   *   status_callback_url: "https://app.test/status",
   *   secret: "a secret that was made at random",
   *   create: async () => ({ id: "cs_1" }),
   *   window: "always",
   * });
   * const [checked] = await campaign.check({
   *   fetch: async (url, init) => flow(new Request(url, init)), // in earnest: fetch
   * });
   * console.log(checked?.param, checked?.result); // flow_url refused
   * ```
   */
  readonly check: (options: CheckOptions) => Promise<readonly UrlCheck[]>;
  /**
   * Does what is due: begins calls, and frees the slots of the attempts that no final notification came
   * for. It doesn't wait for the answers. Safe to call from anywhere, any number of times.
   *
   * @returns when to come back, in milliseconds since 1970; also come back after `note`, `add` and
   * `resume`. `undefined`: nothing will be due by itself
   * @throws what the database throws, such as when it can't be written: no further call was begun then.
   * A busy file only delays
   * @throws {BadParametersException} (`placed: "no"`) when `clock` returns no time
   */
  readonly step: () => Promise<number | undefined>;
  /** Waits until every POST that is under way has its answer, and that is recorded. */
  readonly idle: () => Promise<void>;
  /**
   * Steps until every contact has ended, the campaign is paused or closed or the signal aborts; then
   * waits as `idle` does. Once the signal has aborted, no lost answer is asked for either, until the next step.
   *
   * @throws what `step` throws
   */
  readonly run: (options?: { readonly signal?: AbortSignal | undefined }) => Promise<Progress>;
  /**
   * Waits until no call is live: each has ended, or was given up. What is only unclear stays so in the ledger.
   * Begins no call; pause before.
   *
   * @throws what the database throws
   */
  readonly drain: (options?: { readonly signal?: AbortSignal | undefined }) => Promise<Progress>;
  /**
   * Records a verified notification (from `receive` or `callbackHandler`, with the campaign's secret),
   * in any order and any number of times. Answer the service after it: a final event is not delivered
   * again after a 204. It also takes what `onInput` of `flowHandler` gets: each answer is kept at once, and who answered;
   * what `onEnd` of `connectAgent` gets, where the context of the `ws_url` is that of the `flow_url`; and what `onRecording` gets: the
   * recording's id and the time are kept, its URL is not.
   *
   * @param sender - `service`: the name of the service whose handler has verified it, where the campaign has several. It counts
   * for the attempts at that service alone
   * @throws {BadParametersException} (`placed: "no"`) when an answer is no text or longer than 1,000 characters, or `service` is the
   * name of none of them
   *
   * @returns whether it was about an attempt of this campaign, once that is durable
   * @throws {LedgerException} `busy` or `closed`: answer 500, so that the service delivers it again
   */
  readonly note: (
    given: Received | CallInput | CallOutcome | RecordingInput,
    sender?: Sender,
  ) => Promise<boolean>;
  /**
   * Who is called, by the context of the verified URL of a flow request or a notification. The number in the request itself
   * is the sender's word.
   *
   * @returns `undefined` if the call is none of this campaign, or its contact was erased
   * @throws {LedgerException} `closed`
   */
  readonly contact: (context: Context) => CalledContact | undefined;
  /**
   * Calls a contact at a time that it asked for, within the calling hours or at their next opening, also one that was
   * talked to: say so at the end of a call, in a step of its flow. Of a contact that was never called it only sets the
   * time; otherwise it adds an attempt, at most `callBacks` times. A time that was agreed on before is only moved.
   *
   * @param to_number - E.164
   * @param at - a `Date`, ISO 8601, or local time such as `"2026-06-03 15:00"` in the contact's time zone
   * @returns whether it will be called then; not if it isn't in the list or is blocked, its call has no known end, or
   * `callBacks` are used up
   * @throws {BadParametersException} (`placed: "no"`) when the number or the time breaks its rule
   * @throws {LedgerException} `busy` or `closed`
   */
  readonly callBack: (to_number: string, at: Date | string) => Promise<boolean>;
  /**
   * No further call begins, from now on until `resume`; live calls go on. The promise resolves once that is
   * in the ledger, at once unless the file is busy.
   *
   * @throws what the database throws
   * @throws {LedgerException} `closed`; `busy` only when the campaign closes meanwhile
   */
  readonly pause: (reason?: string) => Promise<void>;
  /**
   * Continues after a pause, also one that an answer of the service has made, and takes back that live calls are ended.
   *
   * @param reason - only after a pause for this reason: another process may have stopped the campaign meanwhile
   * @throws as `pause` does, which it waits for
   */
  readonly resume: (reason?: string) => Promise<void>;
  /**
   * Begins no further call, as `pause`, and ends every live call by `end`: one that is being placed as soon as its id is
   * known, also after this has returned. Each is in the audit log, as `ended` or `not_ended`; its final notification ends
   * the contact. `resume` takes it back.
   *
   * @returns what became of them, once each was tried
   * @throws {BadParametersException} (`placed: "no"`) without the option `end`
   * @throws as `pause` does
   */
  readonly endCalls: () => Promise<EndedCalls>;
  /**
   * Ends every contact that waits as `canceled`; for good.
   *
   * @throws as `pause` does, which it waits for
   */
  readonly cancel: () => Promise<void>;
  /**
   * Puts numbers on the do-not-call list, at any time: contacts that wait are blocked at once. While the
   * file is busy it waits, and no call begins. A list of more than 1,000 numbers is written so many at a time, and
   * calls go on in between: a contact whose number isn't written yet may be called. An erased number is on the list
   * by its HMAC already, and is not written. Contacts with one `id` and several numbers, as `sync` has found them, are one person:
   * all the numbers are blocked.
   *
   * @returns how many are new on it
   * @throws {BadParametersException} (`placed: "no"`) when one is no E.164 number; none is added then
   * @throws as `pause` does
   */
  readonly block: (numbers: string | Iterable<string>) => Promise<number>;
  /**
   * The numbers of the same people as some numbers, these included: those of contacts with the same `id`, as `sync` has found
   * them. `block` blocks them all.
   *
   * @param numbers - E.164
   * @throws {BadParametersException} (`placed: "no"`) when one is no E.164 number
   * @throws {LedgerException} `closed`; `busy`, while another program writes to the file
   */
  readonly samePerson: (numbers: string | Iterable<string>) => readonly string[];
  /**
   * Deletes the data of contacts: no byte of number, id and variables stays in the file. Their numbers
   * are refused from then on, by an HMAC alone. The file is written anew once for all of them, which blocks the process: about
   * 2 s for a million contacts.
   *
   * @returns how many of them were in it
   * @throws {BadParametersException} (`placed: "no"`) when one is no E.164 number; none is erased then
   * @throws {LedgerException} `erase_incomplete`: they are erased, but bytes may be left; try again. `busy`,
   * after 10 s; `closed`
   */
  readonly erase: (numbers: string | Iterable<string>) => Promise<number>;
  /**
   * Begins no further call (a `run` ends, and `step` does nothing), waits as `idle` does, and lets
   * another process dial. From then on whatever would change the campaign rejects with a `LedgerException`,
   * `closed`; it can be read until the database is closed, which stays the caller's to do. A second `close`
   * does nothing more.
   *
   * @throws {LedgerException} `busy`, after 5 s: the campaign is closed, and the next process checks the file
   */
  readonly close: () => Promise<void>;
}
