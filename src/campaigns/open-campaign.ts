import { hex } from "../lib/encoding.ts";
import type { Campaign } from "./campaign.ts";
import { checkUrls, signedUrl } from "./check.ts";
import type { Dialer } from "./dialer.ts";
import { numbersIn } from "./do-not-call.ts";
import { open } from "./engine.ts";
import { LedgerException } from "./errors.ts";
import { LastKnown, loopsOf } from "./loops.ts";
import type { CampaignOptions, CampaignSettings } from "./options.ts";
import { otherNumbersOf } from "./people.ts";
import { calledContact } from "./script.ts";
import { patience, type Sql, type Storage, shortWait, sqlOf, whileBusy } from "./sqlite.ts";
import { syncContacts } from "./sync.ts";
import { factOf, prepareTables, readAudit, setFact } from "./tables.ts";

/** The fact that has the path by which the ledger was opened last for dialling. */
const lastPath = "path";

/** The fact by which two names show that they are one file: a copy that was made before lacks it. */
const mark = "mark";

/**
 * Marks a file as open under its name: who opens it after a crash checks it. The lock belongs to a name, so a file with
 * two (hard links) has two locks.
 *
 * @throws {LedgerException} `in_use`, when a process dials from the same file under another name
 */
const openUnderOneName = (sql: Sql): void => {
  const { path } = sql;
  if (path === "") return;
  const known = factOf(sql, lastPath);
  const isOtherName = typeof known === "string" && known !== path && factOf(sql, "open") === 1;
  if (isOtherName) {
    const own = hex(crypto.getRandomValues(new Uint8Array(8)));
    sql.transaction(() => setFact(sql, mark, own));
    const isSame = `select 1 from outdial_fact where name = '${mark}' and value = '${own}'`;
    if (sql.isLockedAs(known, isSame)) throw new LedgerException("in_use");
  }
  sql.transaction(() => {
    // Another process was faster.
    if (factOf(sql, lastPath) !== known) throw new LedgerException("busy");
    setFact(sql, lastPath, path);
    setFact(sql, "open", 1);
  });
};

const finite = (at: number): number | undefined =>
  at === Number.POSITIVE_INFINITY ? undefined : at;

/** `sync`, one after the other: they share tables. */
const syncOf = (sql: Sql, dialer: Dialer, settings: CampaignSettings): Campaign["sync"] => {
  let last: Promise<unknown> = Promise.resolve();
  return (contacts, options = {}) => {
    const synced = last
      .then(() => {
        sql.requireOpen();
        return syncContacts(sql, contacts, options, settings);
      })
      .finally(() => dialer.wakeUp.announce());
    last = synced.catch(() => {});
    return synced;
  };
};

/**
 * Opens a campaign: a list of contacts of whom each is called at most once an attempt, whatever
 * happens to the process. The claim of an attempt is durable before its POST, and never goes back to
 * pending by itself; what may have been placed is settled by the notification that comes to the
 * attempt's own signed URL, or ends as `unknown`.
 *
 * @param storage - a database of its own, or a Durable Object's storage. A file gets a rollback journal
 * beside it (`-journal`), synced at every commit, and a lock (`-lock`): the numbers are in it, so keep it private
 * @param options - who calls, how fast, when and how often
 * @throws {BadParametersException} (`placed: "no"`) when an option breaks its rule, or the storage is no open database
 * @throws {LedgerException} when another process dials from it, it is another campaign's, it is damaged,
 * or another program holds the file for 10 s
 *
 * @example Call a list
 * ```ts
 * import { DatabaseSync } from "node:sqlite";
 * import { Client } from "outdial";
 * import { callbackHandler } from "outdial/callbacks";
 * import { openCampaign } from "outdial/campaigns";
 * import { createEmulator } from "outdial/emulator";
 *
 * const secret = crypto.randomUUID(); // for the emulator only
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
 *   create: (params, options) => client.calls.create(params, options),
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
  const isTooLong = (triedFor: number): boolean => triedFor > patience;
  const sql = await whileBusy(() => sqlOf(storage, shortWait), isTooLong);
  const { campaign, dialer, settings, progress } = await open(sql, options, () => {
    prepareTables(sql);
    openUnderOneName(sql);
  });
  const nextCall = new LastKnown(() => finite(dialer.nextCall), undefined);
  const lastCall = new LastKnown((rate: number) => finite(dialer.lastCall(rate)), undefined);
  const { run, drain, close } = loopsOf(sql, dialer, settings.clock, progress);
  return {
    ...campaign,
    contact: (context) => {
      sql.requireOpen();
      return calledContact(sql, context);
    },
    audit: () => readAudit(sql),
    samePerson: (numbers) => {
      sql.requireOpen();
      const all = [...numbersIn(numbers)];
      return [...new Set([...all, ...otherNumbersOf(sql, all)])];
    },
    check: (given) => checkUrls(given, (param) => signedUrl(settings, param)),
    get rate() {
      return dialer.rate;
    },
    get nextCall() {
      return nextCall.lastKnown();
    },
    lastCall: (callsPerSecond = dialer.rate) => lastCall.lastKnown(callsPerSecond),
    get busy() {
      return sql.isBusy;
    },
    sync: syncOf(sql, dialer, settings),
    run,
    drain,
    close,
    [Symbol.asyncDispose]: close,
  };
};
