import { type GenericSchema, optional, strictObject } from "valibot";
import type { Secret } from "../callbacks/signed-url.ts";
import { check, presence } from "../lib/check.ts";
import { answerNamesIn, answersOf } from "./answers.ts";
import { checkedClock } from "./calling-hours.ts";
import { type Disposition, isDisposition } from "./disposition.ts";
import { blockAll, checkedNumbers, erase, requireErasureSecrets, unblock } from "./do-not-call.ts";
import { type EndedCalls, endFromOutside, type LiveServices } from "./ending.ts";
import { LedgerException } from "./errors.ts";
import { type Figures, figuresOf } from "./figures.ts";
import {
  type CampaignSettings,
  clockOption,
  defaultSettleTimeout,
  secretOption,
} from "./options.ts";
import { type Progress, progressOf, setStateOfCampaign, stopReason } from "./progress.ts";
import { type KeptRecording, recordingsIn } from "./recordings.ts";
import { serviceNamesIn } from "./services.ts";
import { type Sql, type Storage, sqlOf } from "./sqlite.ts";
import {
  type AuditEntry,
  isCurrent,
  isErased,
  numberIn,
  prepareTables,
  readAudit,
  requireTables,
  stateIn,
  textIn,
} from "./tables.ts";

/** The result of a contact. */
export interface Result {
  /** The contact's number in the ledger, as in the signed URLs. */
  readonly contact: number;
  /** E.164; empty when the contact was erased. */
  readonly to_number: string;
  /** Your own name for it. */
  readonly id?: string | undefined;
  /** Absent while the contact waits or is being called. */
  readonly disposition?: Disposition | undefined;
  /**
   * Why, in the words of the notification (without numbers, 200 characters at most), or of the answer to
   * the request; while it waits or is called again, why the attempt before failed.
   */
  readonly reason?: string | undefined;
  /** POSTs that placed a call, or may have. */
  readonly attempts: number;
  /** Of the last attempt. */
  readonly call_id?: string | undefined;
  /** When the last attempt was claimed, just before its POST, in milliseconds since 1970. */
  readonly startedAt?: number | undefined;
  /** When the final notification of the last attempt came, in milliseconds since 1970. */
  readonly endedAt?: number | undefined;
  /** Milliseconds from the answer to the end of the last call; the service measures whole seconds. */
  readonly duration?: number | undefined;
  /** Who answered the last call, in the words of the notifications, if the carrier detects machines. */
  readonly answered_by?: string | undefined;
  /**
   * What the carrier charges for the last call, as the text that it reports, such as `"0.00834"`; absent where it reports
   * nothing. Some carriers have a charge below 0.
   */
  readonly cost?: string | undefined;
  /** The currency of `cost`, ISO 4217, if the carrier names it. */
  readonly currency?: string | undefined;
  /** The name of the service of the last attempt, where the campaign has several. */
  readonly service?: string | undefined;
  /** What the contact answered, by the names of the questions (`as`); of a name with several answers the last. */
  readonly answers: Readonly<Record<string, string>>;
  /** The recordings that a `record` of the flow has made, of all attempts in order. */
  readonly recordings: readonly KeptRecording[];
  /** The contact's own values, as the list has them. */
  readonly variables: Readonly<Record<string, string>>;
}

/** What can be done with a campaign without dialling. */
export interface Ledger {
  /**
   * How many contacts are in each state: it costs the same for a short and for a long list.
   *
   * @throws {LedgerException} `busy`, from `openLedger` only: of a campaign that dials it returns what was
   * known last, after 100 ms at most; `unknown_state`
   */
  readonly progress: () => Progress;
  /**
   * The result of each contact, in the order of the list; read a page at a time.
   *
   * @throws {LedgerException} `busy`, while another program writes to the file; `unknown_state`
   */
  readonly results: () => Iterable<Result>;
  /**
   * The names of all answers, and of recordings that a `record` has named, in the order in which they first came up: the columns of a
   * table.
   *
   * @throws {LedgerException} `busy`, while another program writes to the file
   */
  readonly answerNames: () => readonly string[];
  /**
   * The names of all variables that contacts have. It reads the whole list.
   *
   * @throws {LedgerException} `busy`, while another program writes to the file
   */
  readonly variableNames: () => readonly string[];
  /**
   * The names of the services by which calls were placed, where there are several; none otherwise.
   *
   * @throws {LedgerException} `busy`, while another program writes to the file
   */
  readonly serviceNames: () => readonly string[];
  /**
   * Every change of state with its time, in order; read a page at a time.
   *
   * @throws {LedgerException} `busy`, while another program writes to the file
   */
  readonly audit: () => Iterable<AuditEntry>;
  /**
   * Puts numbers on the do-not-call list, at any time: contacts that wait are blocked at once. An erased
   * number is on it already, by its HMAC, and is not written again. 1,000 are written at a time.
   *
   * @returns how many are new on it
   * @throws {BadParametersException} (`placed: "no"`) when one is no E.164 number; none is added then
   * @throws {LedgerException} `busy`, when some may have been added; `missing_secret`, when the option `secret` lacks one under which somebody was
   * erased; none is added then
   */
  readonly block: (numbers: string | Iterable<string>) => Promise<number>;
}

/** A ledger that is open beside the process that dials from it, if there is one. */
export interface OpenedLedger extends Ledger {
  /**
   * The figures of a report: calls and answer rate over time, answers, call-backs and attempts. It reads the whole ledger
   * in one piece, which blocks the process: about a second for a million contacts.
   *
   * @param options - `from`: calls that began before that time, in milliseconds since 1970, are not in `quarters`
   * @throws {LedgerException} `busy`, while another program writes to the file
   */
  readonly figures: (options?: { readonly from?: number | undefined }) => Figures;
  /**
   * Stops the process that dials: it begins no further call, as after `pause`, and whoever dials next needs `resume`. Live
   * calls go on.
   *
   * @throws {LedgerException} `busy`, while another program writes to the file
   */
  readonly stop: () => Promise<void>;
  /**
   * Stops the process that dials, and has every live call ended: by that process within about a second, if it has the
   * option `end`, and one that is being placed when its id arrives. What it doesn't end within two seconds, or all where no
   * process dials, is ended from here by `end`. Each is in the audit log, as `ended` or `not_ended`.
   *
   * @param options - `end` and `get` are those of `openCampaign`, and in `services`, by their names, those of several. Without `end` only the process that dials ends calls, which has 30 s
   * for that. With `get` the ends of the calls that are ended from here are in the results at once; whom another attempt may follow on
   * waits until a process dials, which knows its rules
   * @returns what became of them; without `end`, those that nobody has ended are in `failed`
   * @throws {LedgerException} `busy`, while another program writes to the file
   */
  readonly endCalls: (options?: LiveServices) => Promise<EndedCalls>;
  /**
   * Takes numbers off the do-not-call list. A contact of the list that was never called waits again; one that was keeps its
   * disposition. The reason is in the audit log. A list in a file or a list of opt-outs blocks them again.
   *
   * @param numbers - E.164
   * @param reason - such as `"asked to be called again"`, at most 200 characters
   * @returns how many of them were on it
   * @throws {BadParametersException} (`placed: "no"`) when one is no E.164 number, or the reason breaks its rule; none is unblocked
   * then
   * @throws {LedgerException} `erased`, when one of them was erased, or `missing_secret`, where that is not known without the
   * option `secret`: none is unblocked then; `busy`
   */
  readonly unblock: (numbers: string | Iterable<string>, reason: string) => Promise<number>;
  /**
   * Deletes the data of contacts, as `erase` of a campaign does: no byte of number, id and variables stays in the file, and the
   * numbers are refused from then on, by an HMAC alone.
   *
   * @param numbers - E.164
   * @returns how many of them were in it
   * @throws {BadParametersException} (`placed: "no"`) when one is no E.164 number; none is erased then
   * @throws {LedgerException} `missing_secret` without the option `secret`, or where it lacks one under which somebody was
   * erased; `erase_incomplete`: they are erased, but bytes may be left; `busy`
   */
  readonly erase: (numbers: string | Iterable<string>) => Promise<number>;
}

/** @throws {LedgerException} `missing_secret` */
const secretToErase = (secret: Secret | undefined): Secret => {
  if (secret === undefined) throw new LedgerException("missing_secret");
  return secret;
};

/** Few: a reader holds the file for a moment only, and the heap stays small. */
const page = 100;

/** A result for each contact, in the order of the list. */
export function* readResults(sql: Sql): Generator<Result, void> {
  for (let last = 0; ; ) {
    const rows = sql.all(
      `select c.contact, coalesce(written, to_number) as to_number, id, c.state, reason, attempts, call_id, claimed, ended,
         duration, answered_by, cost, currency, service, variables
       from outdial_contact c
       left join outdial_attempt a on a.contact = c.contact and a.attempt = c.attempts
       where c.contact > ? order by c.contact limit ${page}`,
      last,
    );
    const end = Number(rows.at(-1)?.contact ?? last);
    const answers = answersOf(sql, last + 1, end);
    const recordings = Map.groupBy(recordingsIn(sql, last + 1, end), ({ contact }) => contact);
    for (const row of rows) {
      const to_number = String(row.to_number);
      const state = stateIn(row.state);
      last = Number(row.contact);
      yield {
        contact: last,
        to_number: isErased({ to_number }) ? "" : to_number,
        id: textIn(row.id),
        disposition: isDisposition(state) ? state : undefined,
        reason: textIn(row.reason),
        attempts: Number(row.attempts),
        call_id: textIn(row.call_id),
        startedAt: numberIn(row.claimed),
        endedAt: numberIn(row.ended),
        duration: numberIn(row.duration),
        answered_by: textIn(row.answered_by),
        cost: textIn(row.cost),
        currency: textIn(row.currency),
        service: textIn(row.service),
        answers: answers.get(last) ?? {},
        recordings: recordings.get(last) ?? [],
        variables: JSON.parse(textIn(row.variables) ?? "{}"),
      };
    }
    if (rows.length < page) return;
  }
}

/** The names of all variables, in the order in which the contacts have them. */
export const variableNamesIn = (sql: Sql): readonly string[] =>
  sql
    .all(
      `select key from outdial_contact c, json_each(c.variables) v
       group by key order by min(c.contact), min(v.id)`,
    )
    .map(({ key }) => String(key));

/** How a ledger is opened. */
export interface LedgerOptions {
  /**
   * The campaign's secret, by which `block` and `unblock` recognize erased numbers, and `erase` marks them; where it was changed, the old ones too.
   *
   * @defaultValue none: `block` writes the numbers as they are given, erased ones too
   */
  readonly secret?: Secret | undefined;
  /**
   * What time it is, in milliseconds since 1970: the clock of the campaign, where that has one.
   *
   * @defaultValue `Date.now`
   */
  readonly clock?: (() => number) | undefined;
}

type LedgerSettings = LedgerOptions & Pick<CampaignSettings, "clock">;

const LedgerOptionsSchema: GenericSchema<unknown, LedgerSettings> = strictObject(
  { secret: optional(secretOption), clock: clockOption },
  presence,
);

/**
 * Brings the ledger of an older version up to date. No process may dial from it meanwhile, as it writes as the older
 * version does.
 *
 * @throws {LedgerException} `in_use`
 */
const migrateUnlessInUse = (storage: Storage, sql: Sql): void => {
  if (isCurrent(sql)) return;
  const alone = sqlOf(storage);
  try {
    alone.lock();
    prepareTables(alone);
  } finally {
    alone.close();
  }
};

/**
 * Opens the ledger of a campaign to look at it, or to block a number, also while another process dials
 * from it.
 *
 * @param storage - the database that a campaign lives in
 * @param options - the campaign's secret, where numbers were erased and others are to be blocked
 * @throws {LedgerException} `not_a_ledger`, `newer`, `busy` or `damaged`; `in_use`, while an older version of this
 * package dials from it
 * @throws {BadParametersException} (`placed: "no"`) when it is no database, or an option breaks its rule
 *
 * @example Export the results of a list
 * ```ts
 * import { DatabaseSync } from "node:sqlite";
 * import { openCampaign, openLedger } from "outdial/campaigns";
 *
 * const database = new DatabaseSync(":memory:"); // a file, in earnest
 * const campaign = await openCampaign(database, {
 *   from_number: "+12025550199",
 *   flow_url: "https://app.test/flow",
 *   status_callback_url: "https://app.test/status",
 *   secret: "a secret that was made at random",
 *   create: async () => ({ id: "cs_1" }),
 *   window: "always",
 * });
 * await campaign.add([{ to_number: "+12025550100" }]);
 *
 * const ledger = openLedger(database);
 * console.log(await ledger.block("+12025550100")); // 1
 * for (const { to_number, disposition } of ledger.results()) {
 *   console.log(to_number, disposition); // +12025550100 blocked
 * }
 * ```
 * @see docs/campaigns.md
 */
export const openLedger = (storage: Storage, options: LedgerOptions = {}): OpenedLedger => {
  const settings = check(LedgerOptionsSchema, () => options, "options");
  const { secret } = settings;
  const clock = checkedClock(settings.clock);
  const sql = sqlOf(storage);
  requireTables(sql);
  migrateUnlessInUse(storage, sql);
  return {
    progress: () => progressOf(sql),
    results: () => readResults(sql),
    answerNames: () => answerNamesIn(sql).map(({ name }) => name),
    variableNames: () => variableNamesIn(sql),
    serviceNames: () => serviceNamesIn(sql),
    figures: ({ from } = {}) => figuresOf(sql, from),
    audit: () => readAudit(sql),
    stop: async () => {
      const pause = { at: clock(), event: "paused", reason: stopReason };
      sql.transaction(() => setStateOfCampaign(sql, "paused", pause));
    },
    endCalls: (live = {}) => endFromOutside(storage, sql, { ...live, clock }),
    block: async (numbers) => blockAll(sql, await checkedNumbers(numbers), secret, clock()),
    erase: async (numbers) => {
      const all = await checkedNumbers(numbers);
      const own = secretToErase(secret);
      await requireErasureSecrets(sql, own);
      return erase(sql, all, { secret: own, settleTimeout: defaultSettleTimeout, clock });
    },
    unblock: async (numbers, reason) =>
      unblock(sql, await checkedNumbers(numbers), reason, { secret, clock }),
  };
};
