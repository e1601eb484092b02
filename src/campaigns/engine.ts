import { BadParametersException } from "../errors.ts";
import { recordedBy } from "../flows/recorded.ts";
import { fail } from "../lib/check.ts";
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
import {
  type CampaignOptions,
  type CampaignSettings,
  type ListSettings,
  type ServiceSettings,
  type ServicesOptions,
  servicesOf,
} from "./options.ts";
import { adjustToGet } from "./polling.ts";
import { isPausedFor, type Progress, progressOf, setStateOfCampaign } from "./progress.ts";
import { recordRecording } from "./recordings.ts";
import { identifyServices, serviceNamesIn } from "./services.ts";
import { patience, type Sql, whileBusy } from "./sqlite.ts";
import { audit, factOf, setFact } from "./tables.ts";

/** @throws {BadParametersException} when an option needs notifications, and there are none */
const requireNotified = (
  options: Pick<CampaignOptions, "notified" | "attempts" | "concurrency" | "retryOn">,
): void => {
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

/** What a ledger knows a service by: the flow, and its account. */
const identityOf = ({ flow_url, flowName = flow_url, service }: ServiceSettings): Promise<string> =>
  digestOf(flowName, nameOf(service));

/** In the place of it where the campaign has services with names: each has its own. */
const several = "services";

/**
 * Gives a new ledger its campaign, or makes sure that it has this one: with the same flow, service and account, or such
 * services.
 *
 * @throws {LedgerException} `other_campaign`; `missing_service`
 */
const identify = async (
  sql: Sql,
  all: readonly [ServiceSettings, ...ServiceSettings[]],
  id = hex(crypto.getRandomValues(new Uint8Array(8))),
): Promise<void> => {
  const [{ from_number, flow_url, service, clock }] = all;
  const identities = new Map<string, string>();
  for (const each of all) {
    if (each.name !== undefined) identities.set(each.name, await identityOf(each));
  }
  const digest = identities.size > 0 ? several : await identityOf(all[0]);
  const known = factOf(sql, "identity");
  if (known === digest) {
    if (identities.size > 0) sql.transaction(() => identifyServices(sql, identities));
    return;
  }
  if (known === null) {
    sql.transaction(() => {
      identifyServices(sql, identities);
      setFact(sql, "identity", digest);
      setFact(sql, "id", id);
      setFact(sql, "state", "running");
      audit(sql, { at: clock(), event: "opened" });
    });
    return;
  }
  // Before version 5 a ledger belonged to one number as well, by which it goes on calling whom it has called.
  for (const number of identities.size > 0 ? [] : [from_number].flat()) {
    if (known !== (await digestOf(number, flow_url, nameOf(service)))) continue;
    sql.transaction(() => {
      setFact(sql, "identity", digest);
      sql.all("update outdial_contact set from_number = ? where attempts > 0", number);
    });
    return;
  }
  throw new LedgerException("other_campaign");
};

/** Begins no further call, and ends those that are live. */
const endCalls = async (sql: Sql, dialer: Dialer, { clock }: ListSettings): Promise<EndedCalls> => {
  if (dialer.services.all.some(({ settings: { end } }) => !end))
    fail("end", "is missing: endCalls needs the option end: (id) => end(id, options)");
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
  | ("progress" | "results" | "answerNames" | "variableNames" | "serviceNames" | "callBack")
  | "endCalls"
>;

const engineOf = (
  sql: Sql,
  dialer: Dialer,
  settings: ListSettings,
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
      if (state !== "running") return;
      withdrawEnd(sql);
      dialer.services.resume();
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
    serviceNames: () => serviceNamesIn(sql),
    id: String(factOf(sql, "id")),
    block: async (numbers) => {
      const all = await checkedNumbers(numbers);
      return changed(await blockAll(sql, all, secret, clock(), dialer));
    },
    add: async (contacts) => changed(await addContacts(sql, contacts, settings)),
    step: () => dialer.step(),
    idle: () => pass(dialer.idle()),
    note: async (given, { service } = {}) => {
      sql.requireOpen();
      const { settings: own } = dialer.services.named(service);
      const record = (): Promise<boolean> => {
        if ("recording_id" in given) return recordRecording(sql, given, own);
        if (!("event" in given)) {
          return recordInput(sql, "answers" in given ? given : inputOf(given), own);
        }
        const recording = recordedBy(given);
        return recording
          ? recordRecording(sql, recording, own)
          : recordNotification(sql, given, own);
      };
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
  readonly settings: ListSettings;
  readonly progress: LastKnown<[], Progress>;
}

/**
 * The options, checked and complete, of each service.
 *
 * @param wholeRate - returns the calls a second of all shards, where this is one, by the name of a service
 * @throws {BadParametersException}
 */
export const settingsOf = (
  options: CampaignOptions | ServicesOptions,
  wholeRate?: (service: string | undefined) => number | undefined,
): readonly [ServiceSettings, ...ServiceSettings[]] => {
  const all = servicesOf(options);
  for (const own of "services" in options ? options.services : [options]) {
    requireNotified({ ...options, ...own });
  }
  for (const settings of all) checkService(settings, wholeRate?.(settings.name));
  return all;
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
  options: CampaignOptions | ServicesOptions,
  prepare: (sql: Sql) => void,
  shard?: DialerLimits & {
    readonly id?: string | undefined;
    readonly wholeRate?: Parameters<typeof settingsOf>[1];
  },
): Promise<Opened> => {
  const [first, ...others] = settingsOf(options, shard?.wholeRate);
  const clock = checkedClock(first.clock);
  const settings = { ...first, clock };
  const all = [settings, ...others.map((each) => ({ ...each, clock }))] as const;
  const begin = async (): Promise<Opened> => {
    sql.lock();
    prepare(sql);
    await identify(sql, all, shard?.id);
    await requireErasureSecrets(sql, settings.secret);
    markUnclear(sql);
    adjustToClock(sql, clock(), settings.settleTimeout);
    adjustToDelay(sql, clock(), settings);
    for (const each of all) adjustToGet(sql, clock(), each);
    const dialer = new Dialer(sql, all, shard);
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
