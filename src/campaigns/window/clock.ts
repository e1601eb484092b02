import { BadParametersException } from "../../errors.ts";
import { quietly } from "../../rules/quietly.ts";

/** What a clock on a wall shows. */
export interface WallTime {
  /** Sunday is 0. */
  readonly day: number;
  /** Minutes since midnight. */
  readonly minute: number;
}

/**
 * A clock that gives times, or throws: by one that gives none, nobody can be called in time.
 *
 * @throws {BadParametersException} when it gives something else
 */
export const checkedClock = (clock: () => number) => (): number => {
  const now = clock();
  if (Number.isFinite(now)) return now;
  throw new BadParametersException([
    { param: "clock", message: "must give milliseconds since 1970" },
  ]);
};

const minute = 60_000;

const day = 1440;

const formats = /* @__PURE__ */ new Map<string, Intl.DateTimeFormat>();

/** @throws {RangeError} when there is no such time zone */
const formatOf = (timezone: string): Intl.DateTimeFormat => {
  let format = formats.get(timezone);
  if (!format) {
    format = new Intl.DateTimeFormat("en-US", {
      timeZone: timezone,
      hourCycle: "h23",
      year: "numeric",
      month: "numeric",
      day: "numeric",
      hour: "numeric",
      minute: "numeric",
    });
    formats.set(timezone, format);
  }
  return format;
};

/** Whether this runtime knows a time zone by that name. */
export const isTimezone = (timezone: string): boolean => !!quietly(() => formatOf(timezone));

/** Minutes since 1970 as the clock on the wall would count them. */
const wallMinutes = (instant: number, timezone: string): number => {
  const fields: Partial<Record<Intl.DateTimeFormatPartTypes, number>> = {};
  for (const { type, value } of formatOf(timezone).formatToParts(instant)) {
    fields[type] = Number(value);
  }
  const { year = 0, month = 0, day = 0, hour = 0, minute: minutes = 0 } = fields;
  return Date.UTC(year, month - 1, day, hour, minutes) / minute;
};

/** How far a zone's clock is ahead of UTC at an instant, in minutes. */
export const offsetAt = (instant: number, timezone: string): number =>
  wallMinutes(instant, timezone) - Math.floor(instant / minute);

/** Which day it is by the clock of a zone, counted from 1970. */
export const dayAt = (instant: number, timezone: string): number =>
  Math.floor(wallMinutes(instant, timezone) / day);

/** What the clock on the wall of a zone shows. */
export const wallTime = (instant: number, timezone: string): WallTime => {
  const minutes = wallMinutes(instant, timezone);
  return { day: (((Math.floor(minutes / day) + 4) % 7) + 7) % 7, minute: minutes % day };
};

/**
 * The instant at which a zone puts its clock forward or back, between two of which the offsets
 * differ; to the minute.
 */
export const transitionBetween = (from: number, to: number, timezone: string): number => {
  const before = offsetAt(from, timezone);
  let low = Math.floor(from / minute);
  let high = Math.ceil(to / minute);
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (offsetAt(middle * minute, timezone) === before) low = middle;
    else high = middle;
  }
  return high * minute;
};
