import type { Received } from "../callbacks/receive.ts";
import { BadParametersException } from "../errors.ts";
import { check } from "../rules/check.ts";
import { type Added, addContacts } from "./contacts/add.ts";
import type { Contact } from "./contacts/contact.ts";
import { numbersIn } from "./contacts/numbers.ts";
import { Dialer } from "./dial/dialer.ts";
import { run } from "./dial/run.ts";
import { followClock, noteReceived } from "./ledger/attempt/settle.ts";
import { erase } from "./ledger/barred/erase.ts";
import { factOf } from "./ledger/campaign/facts.ts";
import { identify } from "./ledger/campaign/identity.ts";
import { type Progress, setStateOfCampaign } from "./ledger/campaign/progress.ts";
import { closeLog, fold, requireLog } from "./ledger/log.ts";
import { prepareTables } from "./ledger/tables.ts";
import { type Ledger, ledgerOf, type Storage, sqlOf } from "./ledger.ts";
import type { CampaignOptions } from "./options.ts";
import { CampaignSettingsSchema } from "./settings.ts";
import { checkedClock } from "./window/clock.ts";

/** A list of contacts that is being called, each at most once an attempt. */
export interface Campaign extends Ledger, AsyncDisposable {
  /** Made at random with the ledger; the signed URLs carry it. */
  readonly id: string;
  /** Calls a second as they are now: `rate`, or less after the service asked for that. */
  readonly rate: number;
  /**
   * Adds contacts, also while calls go on. They are read a page at a time; one whose telephone is in
   * the campaign already is a duplicate and changes nothing, but for a `timezone` that it names.
   *
   * @throws what the iterable throws; what came before that is added
   */
  readonly add: (contacts: Iterable<Contact> | AsyncIterable<Contact>) => Promise<Added>;
  /**
   * Does what is due: begins the calls whose turn it is, frees the slots of those that stayed silent. It
   * doesn't wait for their answers. Safe to call from anywhere, any number of times.
   *
   * @returns when to come back, in milliseconds since 1970; also come back after `note`, `add` and
   * `resume`. `undefined`: nothing will be due by itself
   * @throws what the database throws, such as when it can't be written: no further call was begun then
   * @throws {BadParametersException} (`placed: "no"`) when `clock` gives no time
   */
  readonly step: () => Promise<number | undefined>;
  /** Waits until every POST that is under way has its answer, and that is written down. */
  readonly idle: () => Promise<void>;
  /**
   * Steps until every contact has ended, the campaign is paused or closed or the signal aborts; then
   * waits as `idle` does.
   *
   * @throws what `step` throws
   */
  readonly run: (options?: { readonly signal?: AbortSignal | undefined }) => Promise<Progress>;
  /**
   * Takes in a verified notification (out of `receive` or `callbackHandler`, with the campaign's
   * secret), in any order and any number of times.
   *
   * @returns whether it was about an attempt of this campaign
   */
  readonly note: (received: Received) => boolean;
  /** No further call begins until `resume`; those that live go on. */
  readonly pause: (reason?: string) => void;
  /** Goes on after a pause, also one that an answer of the service has made. */
  readonly resume: () => void;
  /** Ends who waits as `canceled`; for good. */
  readonly cancel: () => void;
  /**
   * Takes people out of the ledger: no byte of number, id and variables stays in the file and its
   * log. Their numbers are refused from then on, by an HMAC alone.
   *
   * @returns how many of them were in it
   * @throws {BadParametersException} (`placed: "no"`) when one is no E.164 number; none is erased then
   * @throws {LedgerException} `not_scrubbed`: they are erased, but bytes may be left; try again
   */
  readonly erase: (numbers: string | Iterable<string>) => Promise<number>;
  /**
   * Begins no call any more (a `run` ends, and `step` does nothing), waits as `idle` does, and lets
   * another process dial. The database stays the caller's to close.
   */
  readonly close: () => Promise<void>;
}

/** @throws {BadParametersException} when something is asked for that only notifications can tell */
const requireNotified = ({ notified = true, attempts, concurrency }: CampaignOptions): void => {
  const issues = Object.entries({ attempts, concurrency })
    .filter(([, value]) => !notified && value !== undefined)
    .map(([param]) => ({ param, message: "needs notifications, and notified is false" }));
  if (issues.length > 0) throw new BadParametersException(issues);
};

/**
 * Opens a campaign: a list of contacts of whom each is called at most once an attempt, whatever
 * happens to the process. The claim of an attempt is durable before its POST, and never goes back to
 * pending by itself; what may have been placed is settled by the notification that comes to the
 * attempt's own signed URL, or ends as `unknown`.
 *
 * @param storage - a database of its own, or a Durable Object's storage. A file gets a write-ahead log,
 * synced at every commit, and a lock beside it (`-lock`): the numbers are in it, so keep it private
 * @param options - who calls, how fast, when and how often
 * @throws {BadParametersException} (`placed: "no"`) when an option breaks its rule
 * @throws {LedgerException} when another process dials from it, it is another campaign's, or it lacks its
 * log (`-wal`)
 *
 * @example Call a list
 * ```ts
 * import { DatabaseSync } from "node:sqlite";
 * import { Client } from "outdial";
 * import { callbackHandler } from "outdial/callbacks";
 * import { openCampaign } from "outdial/campaigns";
 * import { createEmulator } from "outdial/emulator";
 *
 * const secret = "a secret that was made at random";
 * const status = callbackHandler({ secret, onEvent: (received) => campaign.note(received) });
 * const app = async (request: Request): Promise<Response> =>
 *   request.url.includes("/status") ? status(request) : Response.json({ action: "hangup" });
 *
 * await using emulator = createEmulator({ fetch: app, clock: "instant" });
 * const { apiKey, fetch } = emulator;
 * const client = new Client(apiKey, { baseUrl: "https://emulator.test", fetch });
 *
 * const campaign = await openCampaign(new DatabaseSync(":memory:"), {
 *   from_number: "+12025550199",
 *   flow_url: "https://app.test/flow",
 *   status_callback_url: "https://app.test/status",
 *   secret,
 *   create: (params) => client.calls.create(params),
 *   rate: 50,
 *   window: "always", // in earnest: { days: "mon-fri", from: "09:00", to: "20:00", timezone: "Europe/Berlin" }
 * });
 * const { added } = await campaign.add([
 *   { to_number: "+12025550100" },
 *   { to_number: "+12025550101" }, // is busy
 * ]);
 * const { completed, busy } = await campaign.run();
 * console.log(added, completed, busy); // 2 1 1
 * ```
 * @see docs/campaigns.md
 */
export const openCampaign = async (
  storage: Storage,
  options: CampaignOptions,
): Promise<Campaign> => {
  const checked = check(CampaignSettingsSchema, () => options);
  requireNotified(options);
  const { secret } = checked;
  const clock = checkedClock(checked.clock);
  const settings = { ...checked, clock };
  const sql = sqlOf(storage);
  sql.lock();
  try {
    prepareTables(sql);
    requireLog(sql);
    await identify(sql, settings);
    followClock(sql, clock(), settings);
    fold(sql);
  } catch (error) {
    sql.unlock();
    throw error;
  }
  const dialer = new Dialer(sql, settings);
  const ledger = ledgerOf(sql, clock);
  const step = (): Promise<number | undefined> => dialer.step();
  const idle = (): Promise<void> => dialer.idle();
  const changed = <T>(result: T): T => {
    dialer.onChange();
    return result;
  };
  const mark = (state: Progress["state"], event: string, reason?: string): void =>
    changed(sql.transaction(() => setStateOfCampaign(sql, state, { at: clock(), event, reason })));
  const runs = new Set<Promise<unknown>>();
  const running = (signal: AbortSignal | undefined): Promise<Progress> => {
    const { progress } = ledger;
    const isClosed = (): boolean => dialer.isClosed;
    const listen = (onChange: () => void): void => {
      dialer.onChange = onChange;
    };
    const work = run({ step, idle, progress, clock, isClosed, listen }, signal);
    runs.add(work);
    return work.finally(() => runs.delete(work));
  };
  const close = async (): Promise<void> => {
    await dialer.close();
    await Promise.allSettled(runs);
    closeLog(sql);
    sql.unlock();
  };
  return {
    ...ledger,
    id: String(factOf(sql, "id")),
    get rate() {
      return dialer.rate;
    },
    add: async (contacts) => changed(await addContacts(sql, contacts, settings)),
    step,
    idle,
    run: ({ signal } = {}) => running(signal),
    note: (received) => changed(noteReceived(sql, received, clock(), settings)),
    pause: (reason = "paused by the caller") => mark("paused", "paused", reason),
    resume: () => mark("running", "resumed"),
    cancel: () => mark("canceled", "canceled"),
    erase: async (numbers) => {
      try {
        return await erase(sql, numbersIn(numbers), secret, clock());
      } finally {
        fold(sql); // The file was scrubbed with its log.
      }
    },
    close,
    [Symbol.asyncDispose]: close,
  };
};
