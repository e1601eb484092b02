import { offsetAt, transitionBetween, wallTime } from "./clock.ts";
import { daysOf, minutesOf, type Window } from "./window.ts";

/** Whether calls may be placed, and until when that stays so. */
export interface Hours {
  readonly open: boolean;
  /** Milliseconds since 1970: the first instant at which it may be otherwise. */
  readonly until: number;
}

/** One stretch of a week, in minutes of the wall's clock since Sunday's midnight. */
interface Stretch {
  readonly from: number;
  readonly to: number;
  /** For the contacts that have none of their own. */
  readonly timezone: string;
}

const minute = 60_000;

const day = 1440;

const week = 7 * day;

/** The stretches of a window; what goes past Saturday's midnight also starts the week. */
const stretchesOf = ({ days, from, to, timezone }: Window): readonly Stretch[] =>
  daysOf(days).flatMap((weekday) => {
    const start = weekday * day + minutesOf(from);
    const length = (minutesOf(to) - minutesOf(from) + day) % day || day;
    const stretch = { from: start, to: start + length, timezone };
    return start + length > week
      ? [stretch, { ...stretch, from: start - week, to: start + length - week }]
      : [stretch];
  });

/** How a week of the wall's clock looks at an instant in one zone, if its clock were not put on. */
const look = (stretches: readonly Stretch[], instant: number, timezone: string): Hours => {
  const { day: weekday, minute: minutes } = wallTime(instant, timezone);
  const now = weekday * day + minutes;
  const open = stretches.some(({ from, to }) => from <= now && now < to);
  const edges = stretches.flatMap(({ from, to }) => [from, to]);
  const ahead = Math.min(
    week,
    ...edges.map((edge) => (((edge - now) % week) + week) % week || week),
  );
  return { open, until: (Math.floor(instant / minute) + ahead) * minute };
};

/** The same, where a clock that is put forward or back ends the look. */
const lookIn = (stretches: readonly Stretch[], instant: number, timezone: string): Hours => {
  const { open, until } = look(stretches, instant, timezone);
  const isEven = offsetAt(instant, timezone) === offsetAt(until, timezone);
  return { open, until: isEven ? until : transitionBetween(instant, until, timezone) };
};

/** The hours of a campaign: `"always"`, or windows by the clock of a contact's zone. */
export class CallingHours {
  readonly #always: boolean;
  readonly #stretches: readonly Stretch[];
  /** What was found last, by zone; it holds from its `since` on. */
  readonly #found = new Map<string, Hours & { readonly since: number }>();

  constructor(windows: "always" | readonly Window[]) {
    this.#always = windows === "always";
    this.#stretches = windows === "always" ? [] : windows.flatMap(stretchesOf);
  }

  /** @param timezone - the contact's own; empty when it has none */
  at(instant: number, timezone: string): Hours {
    if (this.#always) return { open: true, until: Number.POSITIVE_INFINITY };
    const kept = this.#found.get(timezone);
    if (kept && kept.since <= instant && instant < kept.until) return kept;
    const zones = new Map<string, Stretch[]>();
    for (const stretch of this.#stretches) {
      const zone = timezone || stretch.timezone;
      zones.set(zone, [...(zones.get(zone) ?? []), stretch]);
    }
    const looks = [...zones].map(([zone, stretches]) => lookIn(stretches, instant, zone));
    const found = {
      since: instant,
      open: looks.some(({ open }) => open),
      until: Math.min(...looks.map(({ until }) => until)),
    };
    this.#found.set(timezone, found);
    return found;
  }

  /** The first instant from one on at which calls may be placed; `Infinity` when there is none within a year. */
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
}
