import { fail } from "../lib/check.ts";
import { instantOf } from "./calling-hours.ts";
import type { CampaignSettings } from "./options.ts";

/** The zone of the windows, where they have one. */
const zoneOfWindows = ({ window }: Pick<CampaignSettings, "window">): string => {
  if (window === "always") return "";
  const zones = new Set([window].flat().map(({ timezone }) => timezone));
  return zones.size === 1 ? String([...zones][0]) : "";
};

const texts = 'ISO 8601 such as "2026-06-03T15:00:00Z", or local time such as "2026-06-03 15:00"';

/** Local time, or with an offset from UTC. */
const shape = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d)(?::(\d\d)(\.\d{1,9})?)?\s?(Z|[+-]\d\d:?\d\d)?$/i;

/** The last time that is taken: what is later is a mistake, such as microseconds. */
const last = Date.UTC(2200, 0);

const offsetOf = (offset: string): string =>
  /^z$/i.test(offset) ? "Z" : offset.replace(/^(...)(\d\d)$/, "$1:$2");

/** The instant of a text; `NaN` when it is none. */
const instantIn = (text: string, timezone: string): number => {
  const [, date = "", time = "", seconds = "00", fraction = "", offset] =
    shape.exec(text.trim()) ?? [];
  if (!date) return Number.NaN;
  const local = `${date}T${time}:${seconds}${fraction && `${fraction}00`.slice(0, 4)}`;
  const utc = Date.parse(`${local}Z`);
  // A date such as 31 February is another day.
  const isDay = !Number.isNaN(utc) && new Date(utc).toISOString().startsWith(`${date}T${time}`);
  if (!isDay) return Number.NaN;
  if (offset) return Date.parse(`${local}${offsetOf(offset)}`);
  return timezone ? instantOf(utc, timezone) : Number.NaN;
};

/**
 * The instant at which somebody wants to be called, in milliseconds since 1970. Local time that occurs twice is the
 * first of both; one that is skipped is as long after the change of the clock as it is after its start.
 *
 * @param timezone - the contact's; empty for that of the windows
 * @throws {BadParametersException} when it is no time, or a local one without a zone
 */
export const callTimeOf = (
  given: unknown,
  timezone: string,
  settings: Pick<CampaignSettings, "window">,
  param: string,
): number => {
  const zone = timezone || zoneOfWindows(settings);
  const at =
    given instanceof Date
      ? given.getTime()
      : typeof given === "string"
        ? instantIn(given, zone)
        : Number.NaN;
  if (at > 0 && at < last) return Math.floor(at);
  const isLocal = typeof given === "string" && !zone && !Number.isNaN(instantIn(given, "UTC"));
  if (isLocal) return fail(param, "is local time, and needs a timezone");
  // Whoever writes a list can't write a Date.
  return fail(param, `must be ${typeof given === "string" ? "" : "a Date, or "}${texts}`);
};
