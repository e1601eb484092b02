import type { CampaignOptions } from "../../campaigns/index.ts";
import { isTimezone } from "../../campaigns/window/clock.ts";
import type { Window } from "../../campaigns/window/window.ts";
import { UsageError } from "../command/failure.ts";
import type { Values } from "../command/flags.ts";
import { secondsOf } from "./duration.ts";
import type { dialFlags } from "./flags.ts";
import { columnOf } from "./list/contacts.ts";

export type DialValues = Values<typeof dialFlags>;

/** What of a campaign the command line decides. */
export type DialOptions = Omit<CampaignOptions, "create" | "status_callback_url">;

/** How a user of the command line knows an option of the campaign. */
export const names: Readonly<Record<string, string>> = {
  from_number: "--from",
  flow_url: "--flow",
  status_callback_url: "--callback or --public-url",
  secret: "OUTDIAL_SECRET",
  rate: "--rate",
  concurrency: "--concurrency",
  attempts: "--attempts",
  retryOn: "--retry-on",
  retryAfter: "--retry-after",
  window: "--window",
  settle: "--settle",
  until: "--until",
  prefixes: "--prefix",
  perDay: "--per-day",
  variables: "--variables",
  apiKey: "OUTDIAL_API_KEY",
};

export const windowRule = '--window must be hours such as "mon-fri 09:00-20:00", or "always"';

/** `"mon-fri 09:00-20:00"`, by the clock of a zone. */
const windowOf = (text: string, timezone: string | undefined): Window => {
  const [, days = "", from = "", to = ""] =
    /^\s*([a-z,-]+)\s+([\d:]+)\s*-\s*([\d:]+)\s*$/i.exec(text) ?? [];
  if (!days) {
    throw new UsageError(windowRule);
  }
  if (timezone === undefined)
    throw new UsageError('--window needs --timezone, such as "Europe/Berlin"');
  return { days, from, to, timezone };
};

const windowsOf = ({ window = [], timezone }: DialValues): CampaignOptions["window"] => {
  if (timezone !== undefined && !isTimezone(timezone)) {
    throw new UsageError('--timezone must be an IANA time zone such as "Europe/Berlin"');
  }
  if (!window.includes("always")) return window.map((each) => windowOf(each, timezone));
  if (window.length > 1) throw new UsageError('--window is "always", or hours, and not both');
  return "always";
};

/** A moment, by whose clock must be said: this machine's zone is nobody's wish. */
const momentOf = (text: string): Date => {
  const at = new Date(text);
  if (/T\d\d:\d\d.*(Z|[+-]\d\d:\d\d)$/.test(text) && !Number.isNaN(at.getTime())) return at;
  throw new UsageError(
    '--until must be a date, time and zone: "2026-12-24T12:00Z", "…T12:00+01:00"',
  );
};

/** What words can't be; the rules of the campaign say the rest. */
const retryOnOf = (text: string): NonNullable<CampaignOptions["retryOn"]> => {
  const known = ["busy", "no_answer", "rejected", "unreachable"] as const;
  return text.split(",").map((word) => {
    const reason = known.find((each) => each === word.trim());
    if (!reason) throw new UsageError(`--retry-on takes ${known.join(", ")}`);
    return reason;
  });
};

/**
 * The campaign that a command line asks for.
 *
 * @throws {UsageError} naming the flag
 */
export const optionsOf = (flags: DialValues, secret: string, service: string): DialOptions => {
  const { from = "", flow = "", callback, rate, concurrency, attempts, until, prefix } = flags;
  const { "retry-on": retryOn, "retry-after": retryAfter, settle, "per-day": perDay } = flags;
  return {
    from_number: from,
    flow_url: flow,
    secret,
    service,
    window: windowsOf(flags),
    notified: callback === undefined,
    ...(flags["no-record"] && { record: false }),
    ...(rate !== undefined && { rate: Number(rate) }),
    ...(concurrency !== undefined && { concurrency: Number(concurrency) }),
    ...(attempts !== undefined && { attempts: Number(attempts) }),
    ...(retryOn !== undefined && { retryOn: retryOnOf(retryOn) }),
    ...(retryAfter !== undefined && { retryAfter: secondsOf("retry-after", retryAfter) }),
    ...(settle !== undefined && { settle: secondsOf("settle", settle) }),
    ...(until !== undefined && { until: momentOf(until) }),
    ...(prefix && { prefixes: prefix }),
    ...(perDay !== undefined && { perDay: Number(perDay) }),
    ...(flags.variables && { variables: flags.variables.split(",").map(columnOf) }),
  };
};
