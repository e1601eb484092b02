import { custom, type GenericSchema, optional, strictObject } from "valibot";
import { BadParametersException } from "../errors.ts";
import { isText, presence, withoutThrowing } from "../lib/check.ts";
import { virtualTimeOf, withTime } from "../lib/clock.ts";

/** In milliseconds. */
const minute = 60_000;

/** In minutes. */
const day = 1440;

const week = 7 * day;

/** Local time in a zone. */
interface WallTime {
  /** Days since 1970-01-01. */
  readonly date: number;
  /** Sunday is 0. */
  readonly day: number;
  /** Minutes since midnight. */
  readonly minute: number;
}

/**
 * Checks each result of a clock.
 *
 * @throws {BadParametersException} when the result is not a finite number
 */
export const checkedClock = (clock: () => number): (() => number) => {
  const checked = (): number => {
    const now = clock();
    if (Number.isFinite(now)) return now;
    throw new BadParametersException([
      { param: "clock", message: "must give milliseconds since 1970" },
    ]);
  };
  return withTime(checked, virtualTimeOf(clock));
};

const formats = new Map<string, Intl.DateTimeFormat>();

/** @throws {RangeError} when the runtime does not know the time zone */
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

export const timezoneRule = 'must be an IANA time zone with its area, such as "Europe/Berlin"';

/** A name with its area: an abbreviation or an offset alone does not know a summer time. */
const zoneName = /^(UTC|Etc\/UTC|(?!Etc\/)[a-z]+\/[\w+/-]+)$/i;

/** Whether this runtime knows a time zone by that name. */
export const isTimezone = (timezone: string): boolean =>
  zoneName.test(timezone) && !!withoutThrowing(() => formatOf(timezone));

/** Minutes since 1970-01-01 00:00, counted in the zone's local time. */
const wallMinutes = (instant: number, timezone: string): number => {
  const fields: Partial<Record<Intl.DateTimeFormatPartTypes, number>> = {};
  for (const { type, value } of formatOf(timezone).formatToParts(instant)) {
    fields[type] = Number(value);
  }
  const { year = 0, month = 0, day = 0, hour = 0, minute: minutes = 0 } = fields;
  return Date.UTC(year, month - 1, day, hour, minutes) / minute;
};

/** The offset of a zone from UTC at an instant, in minutes. */
const offsetAt = (instant: number, timezone: string): number =>
  wallMinutes(instant, timezone) - Math.floor(instant / minute);

/** The local date in a zone, in days since 1970-01-01. */
export const dayAt = (instant: number, timezone: string): number =>
  Math.floor(wallMinutes(instant, timezone) / day);

/** The local time in a zone at an instant. */
const wallTime = (instant: number, timezone: string): WallTime => {
  const minutes = wallMinutes(instant, timezone);
  const date = Math.floor(minutes / day);
  return { date, day: (((date + 4) % 7) + 7) % 7, minute: minutes % day };
};

/**
 * The instant of a local time. Of one that occurs twice it is the first, and one that is skipped is later by what the
 * clock is put on.
 *
 * @param local - milliseconds since 1970-01-01 00:00, counted in the zone's local time
 */
export const instantOf = (local: number, timezone: string): number => {
  const by = (minutes: number): number =>
    local - offsetAt(local + minutes * minute, timezone) * minute;
  const found = [by(-day), by(day)].filter(
    (instant) => instant + offsetAt(instant, timezone) * minute === local,
  );
  return found.length > 0 ? Math.min(...found) : by(-day);
};

/**
 * The instant, to the minute, at which the offset of a zone changes. The offsets at `from` and `to` must
 * differ.
 */
const transitionBetween = (from: number, to: number, timezone: string): number => {
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

/** When contacts may be called, in their local time. */
export interface Window {
  /** Such as `"mon-fri"`, `"sat"` or `"mon,wed-fri"`; a window past midnight belongs to the day it starts on. */
  readonly days: string;
  /** `"09:00"`: the first minute. */
  readonly from: string;
  /** `"20:00"`: the first minute after the window; at most `"24:00"`. If not after `from`, it is on the next day. */
  readonly to: string;
  /** The IANA time zone of contacts that have no time zone, such as `"Europe/Berlin"`. */
  readonly timezone: string;
  /**
   * Dates on which nobody is called, such as `["2026-12-25"]`, by the contact's local date; what begins on one and ends
   * after its midnight is left out as a whole.
   *
   * @defaultValue none
   */
  readonly except?: readonly string[] | undefined;
}

/** A date as days since 1970-01-01; `NaN` if the text is none. */
const dateOf = (text: string): number => {
  const at = /^\d{4}-\d\d-\d\d$/.test(text) ? Date.parse(`${text}T00:00:00Z`) : Number.NaN;
  const isDate = !Number.isNaN(at) && new Date(at).toISOString().startsWith(text);
  return isDate ? at / (day * minute) : Number.NaN;
};

const names = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

/** The days that a text names, as numbers: Sunday is 0. Empty if the text is not valid. */
const daysOf = (text: string): readonly number[] => {
  const days = new Set<number>();
  for (const part of text.toLowerCase().split(",")) {
    const [from = -1, to = from] = part.split("-").map((name) => names.indexOf(name.trim()));
    if (from < 0 || to < 0 || part.split("-").length > 2) return [];
    for (let day = from; ; day = (day + 1) % 7) {
      days.add(day);
      if (day === to) break;
    }
  }
  return [...days];
};

/** Minutes since midnight; `NaN` if the text is not a time of day. */
const minutesOf = (text: string): number => {
  const [, hours, minutes] = /^([01]\d|2[0-4]):([0-5]\d)$/.exec(text) ?? [];
  const total = Number(hours) * 60 + Number(minutes);
  return total <= 1440 ? total : Number.NaN;
};

/** The rules of a window. */
export const WindowSchema: GenericSchema<unknown, Window> = strictObject(
  {
    days: custom<string>(
      (value) => isText(value) && daysOf(value).length > 0,
      'must be days such as "mon-fri" or "mon,wed,sat"',
    ),
    from: custom<string>(
      (value) => isText(value) && minutesOf(value) < 1440,
      'must be a time such as "09:00"',
    ),
    to: custom<string>(
      (value) => isText(value) && minutesOf(value) > 0,
      'must be a time such as "20:00"',
    ),
    timezone: custom<string>((value) => isText(value) && isTimezone(value), timezoneRule),
    except: optional(
      custom<readonly string[]>(
        (value) =>
          Array.isArray(value) &&
          value.every((each) => isText(each) && !Number.isNaN(dateOf(each))),
        'must be dates such as ["2026-12-25"]',
      ),
    ),
  },
  presence,
);

/** Whether calls may be placed, and when that may change. */
export interface Hours {
  readonly open: boolean;
  /** Milliseconds since 1970: the first instant at which `open` may change. */
  readonly until: number;
}

/** A part of a week, in minutes of local time since the start of Sunday. */
interface Stretch {
  readonly from: number;
  readonly to: number;
  /** The time zone of contacts that have no time zone. */
  readonly timezone: string;
  /** Dates on which nobody is called, in days since 1970-01-01. */
  readonly except: ReadonlySet<number>;
}

/** The stretches of a window. One that ends after the end of Saturday occurs twice: also at the start of the week. */
const stretchesOf = ({ days, from, to, timezone, except = [] }: Window): readonly Stretch[] => {
  const dates = new Set(except.map(dateOf));
  return daysOf(days).flatMap((weekday) => {
    const start = weekday * day + minutesOf(from);
    const length = (minutesOf(to) - minutesOf(from) + day) % day || day;
    const stretch = { from: start, to: start + length, timezone, except: dates };
    return start + length > week
      ? [stretch, { ...stretch, from: start - week, to: start + length - week }]
      : [stretch];
  });
};

/** Whether a stretch that is open by its minutes is so at a local time: not on a day off, nor as the rest of one. */
const isWorking = ({ from, except }: Stretch, now: number, date: number): boolean =>
  except.size === 0 ||
  !(except.has(date) || except.has(date - Math.floor(now / day) + Math.floor(from / day)));

/** The hours of a week in one zone at an instant, ignoring daylight saving time. */
const look = (stretches: readonly Stretch[], instant: number, timezone: string): Hours => {
  const { date, day: weekday, minute: minutes } = wallTime(instant, timezone);
  const now = weekday * day + minutes;
  const open = stretches.some(
    (stretch) => stretch.from <= now && now < stretch.to && isWorking(stretch, now, date),
  );
  const edges = stretches.flatMap(({ from, to }) => [from, to]);
  // A day off may begin or end at midnight.
  if (stretches.some(({ except }) => except.size > 0)) edges.push((weekday + 1) * day);
  const ahead = Math.min(
    week,
    ...edges.map((edge) => (((edge - now) % week) + week) % week || week),
  );
  return { open, until: (Math.floor(instant / minute) + ahead) * minute };
};

/** The same with daylight saving time: `until` is not after a change of the offset. */
const lookIn = (stretches: readonly Stretch[], instant: number, timezone: string): Hours => {
  const { open, until } = look(stretches, instant, timezone);
  const isEven = offsetAt(instant, timezone) === offsetAt(until, timezone);
  return { open, until: isEven ? until : transitionBetween(instant, until, timezone) };
};

/** One zone of those whose clocks agree in each season of the year from an instant on. */
const withoutEquals = (timezones: readonly string[], instant: number): readonly string[] => {
  const seasons = [0, 91, 182, 273].map((days) => instant + days * day * minute);
  const zones = new Map<string, string>();
  for (const zone of timezones) {
    zones.set(zone && seasons.map((at) => offsetAt(at, zone)).join(), zone);
  }
  return [...zones.values()];
};

/** The hours of a campaign: `"always"`, or windows in the local time of each contact. */
export class CallingHours {
  readonly #always: boolean;
  readonly #stretches: readonly Stretch[];
  /** The last result for each zone. It is valid from `since` to `until`. */
  readonly #found = new Map<string, Hours & { readonly since: number }>();
  /** The last open hours for each zone. */
  readonly #closing = new Map<string, { readonly since: number; readonly closes: number }>();

  constructor(windows: "always" | readonly Window[]) {
    this.#always = windows === "always";
    this.#stretches = windows === "always" ? [] : windows.flatMap(stretchesOf);
  }

  /** @param timezone - the contact's time zone; empty if it has none */
  at(instant: number, timezone: string): Hours {
    if (this.#always) return { open: true, until: Number.POSITIVE_INFINITY };
    const kept = this.#found.get(timezone);
    if (kept && kept.since <= instant && instant < kept.until) return kept;
    const found = { since: instant, ...this.#look(instant, timezone) };
    this.#found.set(timezone, found);
    return found;
  }

  #look(instant: number, timezone: string): Hours {
    const zones = new Map<string, Stretch[]>();
    for (const stretch of this.#stretches) {
      const zone = timezone || stretch.timezone;
      zones.set(zone, [...(zones.get(zone) ?? []), stretch]);
    }
    const looks = [...zones].map(([zone, stretches]) => lookIn(stretches, instant, zone));
    return {
      open: looks.some(({ open }) => open),
      until: Math.min(...looks.map(({ until }) => until)),
    };
  }

  /**
   * The first instant, from `instant` on, at which no calls may be placed; `Infinity` if there is none within a year.
   * Windows that follow on each other, and nights in which a clock is put on, don't end the hours.
   */
  closes(instant: number, timezone: string): number {
    const kept = this.#closing.get(timezone);
    if (kept && kept.since <= instant && instant < kept.closes) return kept.closes;
    let { open, until } = this.at(instant, timezone);
    if (!open) return instant;
    const end = instant + 366 * day * minute;
    while (open && until < end) {
      const next = this.#look(until, timezone);
      if (!next.open) break;
      ({ open, until } = next);
    }
    const closes = until < end ? until : Number.POSITIVE_INFINITY;
    this.#closing.set(timezone, { since: instant, closes });
    return closes;
  }

  /** The first instant, from `instant` on, at which calls may be placed; `Infinity` if there is none within a year. */
  opens(instant: number, timezone: string): number {
    const end = instant + 366 * day * minute;
    let at = instant;
    while (at < end) {
      const { open, until } = this.at(at, timezone);
      if (open) return at;
      at = until;
    }
    return Number.POSITIVE_INFINITY;
  }

  /**
   * When some work ends that starts at an instant and pauses while no zone is open. Without days off,
   * every whole week counts as long as the first.
   *
   * @param work - milliseconds
   * @returns `Infinity` when it takes more than a year
   */
  finishes(instant: number, work: number, timezones: readonly string[]): number {
    const zones = withoutEquals(timezones, instant);
    const length = week * minute;
    let perWeek = 0;
    for (const { from, until } of this.#open(instant, instant + length, zones)) {
      perWeek += until - from;
    }
    // With days off no week is as long as the first.
    const isEven = this.#stretches.every(({ except }) => except.size === 0);
    const weeks = perWeek > 0 && isEven ? Math.max(0, Math.floor(work / perWeek) - 1) : 0;
    const end = instant + 366 * day * minute;
    let left = work - weeks * perWeek;
    for (const { from, until } of this.#open(instant + weeks * length, end, zones)) {
      if (left <= until - from) return from + left;
      left -= until - from;
    }
    return Number.POSITIVE_INFINITY;
  }

  /** The stretches of a time in which any zone is open. */
  *#open(
    from: number,
    end: number,
    timezones: readonly string[],
  ): Generator<{ readonly from: number; readonly until: number }, void> {
    for (let at = from; at < end; ) {
      const zones = timezones.map((timezone) => this.at(at, timezone));
      const until = Math.min(end, ...zones.map((zone) => zone.until));
      if (zones.some(({ open }) => open)) yield { from: at, until };
      at = until;
    }
  }
}
