import { basename } from "node:path";
import type { Secret } from "../../callbacks/index.ts";
import type { CampaignOptions, NamedService, Script, Window } from "../../campaigns/index.ts";
import { variableName } from "../../campaigns/list/columns.ts";
import type { MachineDetection } from "../../carriers/carrier.ts";
import type { Service } from "../../service.ts";
import { carrierFlags, detectionFlag, detectionOf } from "../carrier.ts";
import { type Environment, UsageError, type Values } from "../command.ts";
import { type FileService, servicesFileFlag } from "../services-file.ts";
import { daysOffOf } from "./days-off.ts";
import { durationOf } from "./durations.ts";
import { retryOnOf, retryReasons, retryRulesOf } from "./retries.ts";

/** The options of `outdial dial`. */
export const dialFlags = {
  from: {
    type: "string",
    required: true,
    unless: "services-file",
    multiple: true,
    value: "number",
    help: 'E.164: "+" and 7 to 15 digits; each contact keeps one of several',
    sets: "from_number",
  },
  flow: {
    type: "string",
    value: "url",
    help: "where the service fetches the call flow; signed for each attempt",
    sets: "flow_url",
  },
  script: {
    type: "string",
    value: "file",
    help: "the flow itself: a module that exports { onAnswer, steps, … }",
  },
  window: {
    type: "string",
    required: true,
    multiple: true,
    value: "hours",
    help: '"mon-fri 09:00-20:00", "sat 10:00-24:00", repeatable; or "always"',
    sets: "window",
  },
  timezone: {
    type: "string",
    value: "zone",
    help: 'of these hours: "Europe/Berlin"; a contact\'s own comes first',
  },
  except: {
    type: "string",
    multiple: true,
    value: "days",
    help: "days off: 2026-12-25,2027-01-01, or a file: one a line, or .ics",
  },
  listen: { type: "string", value: "host:port", help: "receives the notifications here" },
  "public-url": {
    type: "string",
    value: "url",
    help: "where the service reaches --listen; not needed on one machine",
  },
  callback: {
    type: "string",
    value: "url",
    help: 'another program receives them: contacts end as "placed"',
  },
  rate: { type: "string", value: "calls", help: "calls per second; default 1", sets: "rate" },
  concurrency: {
    type: "string",
    value: "calls",
    help: "live calls at once; default 10",
    sets: "concurrency",
  },
  attempts: {
    type: "string",
    value: "number",
    help: "per contact; default 1",
    sets: "attempts",
  },
  retry: {
    type: "string",
    multiple: true,
    value: "rules",
    help: "reason:delay:attempts (default 2), such as busy:5m:3,no_answer:2h",
  },
  "retry-on": {
    type: "string",
    value: "reasons",
    help: `default busy,no_answer; also ${retryReasons.filter((reason) => !/^(busy|no_answer)$/.test(reason)).join(",")}`,
    sets: "retryOn",
  },
  "retry-after": {
    type: "string",
    value: "time",
    help: "time before the next attempt; default 15m",
    sets: "retryDelay",
  },
  "call-backs": {
    type: "string",
    value: "number",
    help: "attempts that a contact's own wishes add, at most; default 1",
    sets: "callBacks",
  },
  settle: {
    type: "string",
    value: "time",
    help: "after it a call without a final notification is unknown; 62m30s",
    sets: "settleTimeout",
  },
  until: {
    type: "string",
    value: "date",
    help: "no call begins after it: 2026-12-24T12:00Z, or …T12:00+01:00",
    sets: "until",
  },
  "no-record": { type: "boolean", help: "no recording; without --service calls are recorded" },
  idempotent: {
    type: "boolean",
    help: "the service keeps Idempotency-Key: asks for lost answers",
    sets: "idempotent",
  },
  "do-not-call": {
    type: "string",
    value: "file",
    help: "numbers not to call, one per line; read again when it changes",
  },
  "opt-outs": {
    type: "string",
    value: "file",
    help: "of --script: gets who is blocked; default do-not-call.txt",
  },
  recordings: {
    type: "string",
    value: "folder",
    help: "of --script: each recording that it makes is fetched into it",
  },
  prefix: {
    type: "string",
    multiple: true,
    value: "start",
    help: "numbers must begin with it, such as +49; repeatable",
    sets: "prefixes",
  },
  "per-day": {
    type: "string",
    value: "calls",
    help: "most calls per day; no limit by default",
    sets: "perDay",
  },
  variables: {
    type: "string",
    value: "columns",
    help: "columns that the flow's URL carries; URLs get into logs",
    sets: "variables",
  },
  "number-column": {
    type: "string",
    value: "column",
    help: "the column with the telephone; see below",
  },
  delimiter: {
    type: "string",
    value: "sign",
    help: 'between columns: ",", ";" or tab; default: as the header has it',
  },
  encoding: {
    type: "string",
    value: "name",
    help: "of the list, such as windows-1252; default utf-8",
  },
  "opt-out-column": {
    type: "string",
    multiple: true,
    value: "column",
    help: "blocks each row that says yes there, or NAME=VALUE; repeatable",
  },
  "ignore-columns": {
    type: "string",
    multiple: true,
    value: "columns",
    help: "they say nothing about who must not be called; repeatable",
  },
  "zone-column": { type: "string", value: "column", help: "the column with the time zone" },
  country: {
    type: "string",
    value: "code",
    help: "of numbers without a country code, such as DE; default: E.164 only",
  },
  ledger: { type: "string", value: "file", help: "default: beside the list, as .outdial" },
  "base-url": { type: "string", value: "url", help: "the service (or OUTDIAL_BASE_URL)" },
  ...carrierFlags,
  ...servicesFileFlag,
  "calls-per-second": {
    type: "string",
    value: "calls",
    help: "of the carrier's account, the most for --rate; default 1, Vonage 3",
  },
  ...detectionFlag,
  emulate: {
    type: "boolean",
    help: "calls the whole list on an emulator in the process; nobody else",
  },
  callees: {
    type: "string",
    value: "shares",
    help: "who does what there: machine=20%,busy=10%,press=1:60%; see below",
  },
  seed: {
    type: "string",
    value: "number",
    help: "of --callees: which contact does what; default 1",
  },
  output: {
    type: "string",
    value: "folder",
    help: "of --emulate: results, report and what each contact would hear",
  },
  "dry-run": { type: "boolean", help: "prints the plan, and calls nobody" },
  resume: { type: "boolean", help: "dials on after outdial stop" },
  yes: { type: "boolean", help: "does not ask; required without a terminal" },
  json: { type: "boolean", help: "one line of JSON at the end; errors too, on stderr" },
} as const;

export type DialValues = Values<typeof dialFlags>;

/** Stands for the URLs of a server that is not open. */
export const dryUrl = "https://dry.run";

/** What a list has of one service. */
export interface DialService
  extends Pick<
    NamedService,
    "from_number" | "flow_url" | "status_callback_url" | "rate" | "concurrency"
  > {
  /** Its name, where the list has several. */
  readonly name?: string | undefined;
  /** The carrier, or the URL of outdial's own interface. */
  readonly service: string | Service;
}

/** The part of a campaign that the command line decides. */
export type DialOptions = Omit<CampaignOptions, keyof NamedService | "window"> & {
  readonly window: "always" | readonly Window[];
  readonly services: readonly [DialService, ...DialService[]];
};

export const windowRule =
  '--window must be hours such as "mon-fri 09:00-20:00" ("24:00" ends a day), or "always"';

/** `"mon-fri 09:00-20:00"` in a time zone. */
const windowOf = (text: string, timezone: string | undefined): Window => {
  const [, days = "", from = "", to = ""] =
    /^\s*([a-z,-]+)\s+([\d:]+)\s*-\s*([\d:]+)\s*$/i.exec(text) ?? [];
  if (!days) throw new UsageError(windowRule);
  if (timezone === undefined) {
    throw new UsageError('--window needs --timezone, such as "Europe/Berlin"');
  }
  return { days, from, to, timezone };
};

const isTimezone = (timezone: string): boolean => {
  try {
    return Boolean(new Intl.DateTimeFormat("en", { timeZone: timezone }));
  } catch {
    return false;
  }
};

/** @throws {UsageError} when this runtime does not know the time zone */
export const requireTimezone = (timezone: string): void => {
  if (isTimezone(timezone)) return;
  throw new UsageError('--timezone must be an IANA time zone such as "Europe/Berlin"');
};

const windowsOf = ({ window = [], timezone, except }: DialValues): DialOptions["window"] => {
  if (timezone !== undefined) requireTimezone(timezone);
  if (!window.includes("always")) {
    const days = except && { except: daysOffOf(except) };
    return window.map((each) => ({ ...windowOf(each, timezone), ...days }));
  }
  if (window.length > 1) throw new UsageError('--window is "always", or hours, and not both');
  if (except) {
    throw new UsageError('--except needs hours: --window "sun-sat 00:00-24:00", not "always"');
  }
  return "always";
};

/** A date with its time zone: the zone of this machine may be another. */
const dateOf = (text: string): Date => {
  const at = new Date(text);
  const [day = ""] = text.split("T");
  const isDate = /^\d{4}-\d\d-\d\dT\d\d:\d\d.*(Z|[+-]\d\d:\d\d)$/.test(text);
  // JavaScript reads February 31 as March 3.
  if (isDate && !Number.isNaN(at.getTime()) && new Date(day).toISOString().startsWith(day))
    return at;
  throw new UsageError(
    '--until must be a date, time and zone: "2026-12-24T12:00Z", "…T12:00+01:00"',
  );
};

/** A number in decimal digits; `NaN` for anything else, which the campaign refuses. */
export const decimalOf = (text: string): number =>
  /^\d*\.?\d+$/.test(text) ? Number(text) : Number.NaN;

/** @throws {UsageError} for rules beside those that they replace */
const retriesOf = (flags: DialValues): Pick<CampaignOptions, "retryOn" | "retryDelay"> => {
  const { retry, "retry-on": retryOn, "retry-after": retryAfter } = flags;
  if (retry && (retryOn ?? retryAfter) !== undefined) {
    throw new UsageError(
      "--retry has its own reasons and delays: drop --retry-on and --retry-after",
    );
  }
  return {
    ...(retry && { retryOn: retryRulesOf(retry) }),
    ...(retryOn !== undefined && { retryOn: retryOnOf(retryOn) }),
    ...(retryAfter !== undefined && { retryDelay: durationOf("retry-after", retryAfter) }),
  };
};

/**
 * The campaign that a command line describes; the campaign itself checks the values. The URL of a script's flow is known
 * once its server is open.
 *
 * @throws {UsageError} which names the flag
 */
export const campaignOptions = (
  flags: DialValues,
  secret: Secret,
  services: DialOptions["services"],
): DialOptions => {
  const { attempts, until, prefix, script, listen, emulate } = flags;
  const { "call-backs": callBacks, settle, "per-day": perDay } = flags;
  return {
    services,
    // The ledger belongs to the script, and not to the URL of a tunnel.
    ...(script !== undefined && { flowName: `--script ${basename(script)}` }),
    secret,
    window: windowsOf(flags),
    notified: listen !== undefined || emulate === true,
    ...(flags["no-record"] && { record: false }),
    ...(flags.idempotent && { idempotent: true }),
    ...(attempts !== undefined && { attempts: decimalOf(attempts) }),
    ...retriesOf(flags),
    ...(callBacks !== undefined && { callBacks: decimalOf(callBacks) }),
    ...(settle !== undefined && { settleTimeout: durationOf("settle", settle, 1) }),
    ...(until !== undefined && { until: dateOf(until) }),
    ...(prefix && { prefixes: prefix }),
    ...(perDay !== undefined && { perDay: decimalOf(perDay) }),
    ...(flags.variables && { variables: flags.variables.split(",").map(variableName) }),
  };
};

/** @throws {UsageError} for a new list that nobody is called of any more: a year may be mistyped */
export const requireFuture = ({ until }: DialOptions): void => {
  if (!until || until.getTime() > Date.now()) return;
  throw new UsageError("--until is over: nobody would be called");
};

/**
 * How the carrier finds out who answers: a script with `onMachine` needs the end of the greeting.
 *
 * @throws {UsageError} where nobody finds it out, or too early for the script
 */
export const listDetectionOf = (
  flags: DialValues,
  env: Environment,
  script: Script | undefined,
): MachineDetection | undefined => {
  const detection = detectionOf(flags, env);
  if (!script?.onMachine) return detection;
  if (detection !== "detect") return "message";
  throw new UsageError("--machine-detection must be message: onMachine of --script needs it");
};

/**
 * @param entries - the services of the file, which may have URLs of their own
 * @throws {UsageError} unless exactly one program decides what calls do, and one receives the notifications
 */
export const requireReceiver = (flags: DialValues, entries: readonly FileService[]): void => {
  const { listen, attempts, concurrency, retry, script } = flags;
  const {
    flow = entries.find(({ flow_url }) => flow_url)?.flow_url,
    callback = entries.find((entry) => entry.status_callback_url)?.status_callback_url,
  } = flags;
  if ((flow === undefined) === (script === undefined)) {
    throw new UsageError("pass either --flow or --script: what does an answered call do?");
  }
  if (script !== undefined && listen === undefined) {
    throw new UsageError("--script needs --listen: this command serves the flow");
  }
  if (script === undefined && flags["opt-outs"] !== undefined) {
    throw new UsageError("--opt-outs needs --script: only its steps block numbers");
  }
  if ((listen === undefined) === (callback === undefined)) {
    throw new UsageError(
      "pass either --listen or --callback: which program receives the notifications?",
    );
  }
  if (callback !== undefined && (attempts ?? concurrency ?? retry) !== undefined) {
    throw new UsageError(
      "--attempts, --retry and --concurrency need --listen: they need notifications",
    );
  }
};

/** @throws {UsageError} for options that need --emulate, or that it has no use for */
export const checkEmulation = (flags: DialValues): void => {
  const { emulate, callees, seed, output, script, flow, recordings } = flags;
  if (recordings !== undefined && (script === undefined || emulate)) {
    throw new UsageError("--recordings needs --script, and calls that are made: no --emulate");
  }
  if (!emulate && (callees ?? seed) !== undefined) {
    throw new UsageError("--callees and --seed need --emulate");
  }
  if (!emulate && output !== undefined) throw new UsageError("--output needs --emulate");
  if (!emulate) return;
  if (seed !== undefined && callees === undefined) throw new UsageError("--seed needs --callees");
  if (flags["dry-run"]) throw new UsageError("--emulate prints the plan, too: drop --dry-run");
  if (script !== undefined && flow !== undefined) {
    throw new UsageError("pass either --flow or --script: what does an answered call do?");
  }
};
