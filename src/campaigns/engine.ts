import { BadParametersException } from "../errors.ts";
import { check, fail } from "../lib/check.ts";
import { waitingBy } from "../lib/clock.ts";
import { hex, utf8 } from "../lib/encoding.ts";
import { answerNamesIn, inputOf, recordInput } from "./answers.ts";
import { adjustToClock, adjustToDelay, markUnclear } from "./attempts.ts";
import { callBack } from "./call-backs.ts";
import { checkedClock } from "./calling-hours.ts";
import type { Campaign } from "./campaign.ts";
import { addContacts } from "./contacts.ts";
import { Dialer, type DialerLimits } from "./dialer.ts";
import {
  blockAll,
  checkedNumbers,
  erase,
  numbersIn,
  requireErasureSecrets,
} from "./do-not-call.ts";
import { type EndedCalls, requestEnd, withdrawEnd } from "./ending.ts";
import { LedgerException } from "./errors.ts";
import { readResults, variableNamesIn } from "./ledger.ts";
import { LastKnown } from "./loops.ts";
import { recordNotification } from "./notifications.ts";
import { type CampaignOptions, type CampaignSettings, CampaignSettingsSchema } from "./options.ts";
import { adjustToGet } from "./polling.ts";
import { isPausedFor, type Progress, progressOf, setStateOfCampaign } from "./progress.ts";
import { patience, type Sql, whileBusy } from "./sqlite.ts";
import { audit, factOf, setFact } from "./tables.ts";

/** @throws {BadParametersException} when an option needs notifications, and there are none */
const requireNotified = (options: CampaignOptions): void => {
  const { notified = true, attempts, concurrency } = options;
  const retryOn = Array.isArray(options.retryOn) ? undefined : options.retryOn;
  const issues = Object.entries({ attempts, concurrency, retryOn })
    .filter(([, value]) => !notified && value !== undefined)
    .map(([param]) => ({ param, message: "needs notifications, and notified is false" }));
  if (issues.length > 0) throw new BadParametersException(issues);
};

/**
 * A carrier queues calls above its pace, and a queued call may ring when the window is closed.
 *
 * @param wholeRate - calls a second of all shards
 * @throws {BadParametersException} when the campaign is faster than its carrier
 */
const checkService = ({ service, rate, idempotent }: CampaignSettings, wholeRate = rate): void => {
  if (typeof service === "string") return;
  if (idempotent) fail("idempotent", `must be left out: ${service.name} keeps no Idempotency-Key`);
  if (wholeRate <= service.callsPerSecond) return;
  fail("rate", `must be at most ${service.callsPerSecond}, the callsPerSecond of ${service.name}`);
};

/** What a ledger belongs to: a service, or an account with a carrier. */
const nameOf = (service: CampaignSettings["service"]): string =>
  typeof service === "string" ? service : `${service.name}:${service.account}`;

/** What is kept is a digest: a URL may hold a secret of the caller's. */
const digestOf = async (...parts: readonly string[]): Promise<string> =>
  hex(new Uint8Array(await crypto.subtle.digest("SHA-256", utf8(JSON.stringify(parts)))));

/**
 * Gives a new ledger its campaign, or makes sure that it has this one: with the same flow, service and account.
 *
 * @throws {LedgerException} `other_campaign`
 */
const identify = async (
  sql: Sql,
  { from_number, flow_url, flowName = flow_url, service, clock }: CampaignSettings,
  id = hex(crypto.getRandomValues(new Uint8Array(8))),
): Promise<void> => {
  const name = nameOf(service);
  const digest = await digestOf(flowName, name);
  const known = factOf(sql, "identity");
  if (known === digest) return;
  if (known === null) {
    sql.transaction(() => {
      setFact(sql, "identity", digest);
      setFact(sql, "id", id);
      setFact(sql, "state", "running");
      audit(sql, { at: clock(), event: "opened" });
    });
    return;
  }
  // Before version 5 a ledger belonged to one number as well, by which it goes on calling whom it has called.
  for (const number of [from_number].flat()) {
    if (known !== (await digestOf(number, flow_url, name))) continue;
    sql.transaction(() => {
      setFact(sql, "identity", digest);
      sql.all("update outdial_contact set from_number = ? where attempts > 0", number);
    });
    return;
  }
  throw new LedgerException("other_campaign");
};

/** Begins no further call, and ends those that are live. */
const endCalls = async (
  sql: Sql,
  dialer: Dialer,
  { end, clock }: CampaignSettings,
): Promise<EndedCalls> => {
  if (!end) fail("end", "is missing: endCalls needs the option end: (id) => end(id, options)");
  sql.requireOpen();
  await dialer.holdWhile(() =>
    sql.transaction(() => requestEnd(sql, clock(), "calls were ended by the caller")),
  );
  await dialer.ending.forgetFailures();
  dialer.ending.endKnown();
  dialer.wakeUp.announce();
  // The ids of those whose POSTs are under way come with their answers.
  await dialer.posted();
  dialer.ending.endKnown();
  return dialer.ending.result();
};

/** What a shard needs of a campaign: its alarm takes the place of the loops. */
type Engine = Pick<
  Campaign,
  | ("id" | "add" | "step" | "idle" | "note" | "pause" | "resume" | "cancel" | "block" | "erase")
  | ("progress" | "results" | "answerNames" | "variableNames" | "callBack" | "endCalls")
>;

const engineOf = (
  sql: Sql,
  dialer: Dialer,
  settings: CampaignSettings,
  progress: LastKnown<[], Progress>,
): Engine => {
  const { clock, secret } = settings;
  const { pass } = waitingBy(clock);
  const changed = <T>(result: T): T => {
    dialer.wakeUp.announce();
    return result;
  };
  /** Changes of the campaign's state that are not written yet, in order. */
  const marks = new Set<() => void>();
  const mark = async (
    state: Progress["state"],
    event: string,
    reason?: string,
    isMeant = () => true,
  ): Promise<void> => {
    const at = clock();
    const write = (): void => {
      if (!isMeant()) return;
      setStateOfCampaign(sql, state, { at, event, reason });
      if (state === "running") withdrawEnd(sql);
    };
    marks.add(write);
    try {
      await dialer.holdWhile(() => {
        sql.transaction(() => {
          for (const each of marks) each();
        });
        marks.clear();
      });
    } finally {
      marks.delete(write);
      changed(undefined);
    }
  };
  return {
    progress: () => progress.lastKnown(),
    results: () => readResults(sql),
    answerNames: () => answerNamesIn(sql).map(({ name }) => name),
    variableNames: () => variableNamesIn(sql),
    id: String(factOf(sql, "id")),
    block: async (numbers) => {
      const all = await checkedNumbers(numbers);
      return changed(await blockAll(sql, all, secret, clock(), dialer));
    },
    add: async (contacts) => changed(await addContacts(sql, contacts, settings)),
    step: () => dialer.step(),
    idle: () => pass(dialer.idle()),
    note: async (given) => {
      sql.requireOpen();
      const record = (): Promise<boolean> =>
        "event" in given
          ? recordNotification(sql, given, settings)
          : recordInput(sql, "answers" in given ? given : inputOf(given), settings);
      const isOurs = await record().catch((error: unknown) => {
        dialer.fail(error);
        throw error;
      });
      // The id of a call that is to be ended may have come.
      dialer.ending.endKnown();
      return changed(isOurs);
    },
    callBack: async (to_number, at) => {
      sql.requireOpen();
      return changed(await callBack(sql, to_number, at, settings));
    },
    pause: (reason = "paused by the caller") => mark("paused", "paused", reason),
    resume: (reason) =>
      mark("running", "resumed", undefined, () => reason === undefined || isPausedFor(sql, reason)),
    endCalls: () => pass(endCalls(sql, dialer, settings)),
    cancel: () => mark("canceled", "canceled"),
    erase: async (numbers) => {
      sql.requireOpen();
      return erase(sql, numbersIn(numbers), settings);
    },
  };
};

/** What is open of a campaign, for the code of this package. */
export interface Opened {
  readonly campaign: Engine;
  readonly dialer: Dialer;
  readonly settings: CampaignSettings;
  readonly progress: LastKnown<[], Progress>;
}

/**
 * The options, checked and complete.
 *
 * @param wholeRate - calls a second of all shards, where this is one
 * @throws {BadParametersException}
 */
export const settingsOf = (options: CampaignOptions, wholeRate?: number): CampaignSettings => {
  const settings = check(CampaignSettingsSchema, () => options);
  requireNotified(options);
  checkService(settings, wholeRate);
  return settings;
};

/**
 * Opens a campaign for the code of this package.
 *
 * @param prepare - makes the ledger's tables, or checks those that are there
 * @param shard - what bounds the dialer; where this is a shard, the id that its signed URLs carry, and calls a second of all shards
 * @throws as `openCampaign` does
 */
export const open = async (
  sql: Sql,
  options: CampaignOptions,
  prepare: (sql: Sql) => void,
  shard?: DialerLimits & {
    readonly id?: string | undefined;
    readonly wholeRate?: number | undefined;
  },
): Promise<Opened> => {
  const checked = settingsOf(options, shard?.wholeRate);
  const clock = checkedClock(checked.clock);
  const settings = { ...checked, clock };
  const begin = async (): Promise<Opened> => {
    sql.lock();
    prepare(sql);
    await identify(sql, settings, shard?.id);
    await requireErasureSecrets(sql, settings.secret);
    markUnclear(sql);
    adjustToClock(sql, clock(), settings.settleTimeout);
    adjustToDelay(sql, clock(), settings);
    adjustToGet(sql, clock(), settings);
    const dialer = new Dialer(sql, settings, shard);
    const progress = new LastKnown(() => progressOf(sql), progressOf(sql));
    return { campaign: engineOf(sql, dialer, settings, progress), dialer, settings, progress };
  };
  try {
    return await whileBusy(begin, (triedFor) => triedFor > patience);
  } catch (error) {
    sql.close();
    throw error;
  }
};
