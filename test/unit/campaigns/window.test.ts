import { Temporal } from "temporal-polyfill";
import { describe, expect, it } from "vitest";
import type { Window } from "../../../src/campaigns/calling-hours.ts";
import { CallingHours } from "../../../src/campaigns/calling-hours.ts";
import { randomOf } from "../../random.ts";

const zones = [
  "Europe/Berlin",
  "Europe/London",
  "America/New_York",
  "America/Los_Angeles",
  "America/Sao_Paulo",
  "America/St_Johns",
  "Asia/Kolkata",
  "Asia/Kathmandu",
  "Asia/Tokyo",
  "Australia/Lord_Howe",
  "Australia/Sydney",
  "Pacific/Chatham",
];

const names = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];

/** The same question put to Temporal, in the words of the rule. */
const isOpen = (instant: number, zone: string, { days, from, to }: Window): boolean => {
  const { dayOfWeek, hour, minute } =
    Temporal.Instant.fromEpochMilliseconds(instant).toZonedDateTimeISO(zone);
  const [first = "", last = first] = days.split("-");
  const isDay = (day: number) => {
    const [start, end] = [names.indexOf(first), names.indexOf(last)];
    return start <= end ? day >= start && day <= end : day >= start || day <= end;
  };
  const minutes = (text: string) => Number(text.slice(0, 2)) * 60 + Number(text.slice(3));
  const [now, begin, end] = [hour * 60 + minute, minutes(from), minutes(to)];
  const today = dayOfWeek - 1;
  if (begin < end) return isDay(today) && begin <= now && now < end;
  return (isDay(today) && now >= begin) || (isDay((today + 6) % 7) && now < end);
};

const windows = (timezone: string): readonly Window[] => [
  { days: "mon-fri", from: "09:00", to: "20:00", timezone },
  { days: "sat-sun", from: "02:30", to: "03:15", timezone },
  { days: "fri-mon", from: "22:00", to: "02:30", timezone },
  { days: "sun-sat", from: "00:00", to: "24:00", timezone },
];

/** Instants of 2026 and 2027, half of them within 36 hours of a night in which a clock is put on. */
const instantsIn = (zone: string, count: number): readonly number[] => {
  const random = randomOf(20_261_121);
  const start = Temporal.Instant.from("2026-01-01T00:00Z");
  const nights: number[] = [];
  let at: Temporal.ZonedDateTime | null = start.toZonedDateTimeISO(zone);
  for (at = at.getTimeZoneTransition("next"); at && at.year < 2028; ) {
    nights.push(at.epochMilliseconds);
    at = at.getTimeZoneTransition("next");
  }
  return Array.from({ length: count }, (_, index) => {
    const night = nights[index % (2 * nights.length)];
    return night === undefined
      ? start.epochMilliseconds + Math.floor(random() * 63e9)
      : night + Math.floor((random() - 0.5) * 259_200_000);
  });
};

describe("calling hours", () => {
  it.each(zones)(
    "are those of an oracle at 840 instants in %s, the nights of its clock among them",
    (zone) => {
      for (const [index, instant] of instantsIn(zone, 840).entries()) {
        const window = windows(zone)[index % 4];
        if (!window) throw new Error("no window");
        const hours = new CallingHours([window]);
        const { open, until } = hours.at(instant, "");
        expect(open, `${new Date(instant).toISOString()} ${window.days}`).toBe(
          isOpen(instant, zone, window),
        );
        // Nothing changes before `until`, as far as random looks can tell; and what opens is open.
        for (const part of [0.01, 0.3, 0.77, 0.999]) {
          const between = Math.floor(instant + (until - instant) * part);
          expect(isOpen(between, zone, window)).toBe(open);
        }
        const opens = hours.opens(instant, "");
        expect(isOpen(opens, zone, window)).toBe(true);
        if (!open) expect(isOpen(opens - 1, zone, window)).toBe(false);
      }
    },
  );

  it("are by the contact's own clock when it has one", () => {
    const hours = new CallingHours(windows("Europe/Berlin").slice(0, 1));
    const nine = Date.parse("2026-06-03T07:00:00Z"); // 9:00 in Berlin, 3:00 in New York
    expect(hours.at(nine, "").open).toBe(true);
    expect(hours.at(nine, "America/New_York").open).toBe(false);
    expect(hours.opens(nine, "America/New_York")).toBe(Date.parse("2026-06-03T13:00:00Z"));
  });

  it("may be several windows, each by a clock of its own", () => {
    const hours = new CallingHours([
      { days: "wed", from: "09:00", to: "10:00", timezone: "Europe/Berlin" },
      { days: "wed", from: "09:00", to: "10:00", timezone: "America/New_York" },
    ]);
    const at = (time: string) => hours.at(Date.parse(`2026-06-03T${time}:00Z`), "").open;
    expect(["06:59", "07:00", "07:59", "08:00", "13:00", "14:00"].map(at)).toEqual([
      false,
      true,
      true,
      false,
      true,
      false,
    ]);
  });

  it("that never come are Infinity", () => {
    expect(new CallingHours([]).opens(0, "")).toBe(Number.POSITIVE_INFINITY);
  });

  it("hold for a clock that is set back", () => {
    const hours = new CallingHours(windows("Europe/Berlin").slice(0, 1));
    expect(hours.at(Date.parse("2026-06-03T10:00:00Z"), "").open).toBe(true);
    expect(hours.at(Date.parse("2026-06-03T03:00:00Z"), "").open).toBe(false);
  });
});

describe("the end of the hours", () => {
  const berlin = "Europe/Berlin";
  const closes = (windows: readonly Window[], at: string, zone = "") =>
    new CallingHours(windows).closes(Date.parse(at), zone);

  it.each(zones)("is the first instant that is closed, by an oracle, in %s", (zone) => {
    for (const [index, instant] of instantsIn(zone, 40).entries()) {
      const window = windows(zone)[index % 3];
      if (!window) throw new Error("no window");
      const hours = new CallingHours([window]);
      const end = hours.closes(instant, "");
      if (!isOpen(instant, zone, window)) expect(end).toBe(instant);
      else {
        expect(isOpen(end, zone, window)).toBe(false);
        for (let at = instant; at < end; at += 60_000) {
          if (!isOpen(at, zone, window)) throw new Error(`closed at ${new Date(at).toISOString()}`);
        }
      }
      expect(hours.closes(instant, "")).toBe(end);
    }
  });

  it("is that of the last of the windows that follow on each other", () => {
    const morning = { days: "wed", from: "09:00", to: "12:00", timezone: berlin };
    const noonOn = { days: "wed", from: "12:00", to: "20:00", timezone: berlin };
    const end = Date.parse("2026-06-03T18:00:00Z");
    expect(closes([morning, noonOn], "2026-06-03T08:00:00Z")).toBe(end);
  });

  it("is by the contact's own clock when it has one", () => {
    const [window] = windows(berlin);
    const end = Date.parse("2026-06-04T00:00:00Z"); // 20:00 in New York
    expect(closes(window ? [window] : [], "2026-06-03T14:00:00Z", "America/New_York")).toBe(end);
  });

  it("never comes for hours without an end", () => {
    const whole = { days: "sun-sat", from: "00:00", to: "24:00", timezone: berlin };
    expect(closes([whole], "2026-06-03T14:00:00Z")).toBe(Number.POSITIVE_INFINITY);
    expect(new CallingHours("always").closes(0, "")).toBe(Number.POSITIVE_INFINITY);
  });
});

describe("work that rests outside the hours", () => {
  const weekdays = new CallingHours([
    { days: "mon-fri", from: "09:00", to: "17:00", timezone: "UTC" },
  ]);
  const hour = 3_600_000;

  it.each([
    ["2026-06-05T10:00Z", 2, "2026-06-05T12:00Z"], // A Friday.
    ["2026-06-05T16:00Z", 2, "2026-06-08T10:00Z"],
    ["2026-06-05T10:00Z", 20, "2026-06-09T14:00Z"],
  ])("that begins at %s and takes %i hours is done at %s", (begin, hours, end) => {
    const done = weekdays.finishes(Date.parse(begin), hours * hour, [""]);
    expect(new Date(done)).toEqual(new Date(end));
  });

  it("is estimated from one look at each clock, however many zones there are", () => {
    const zones = Intl.supportedValuesOf("timeZone");
    const few = new CallingHours([
      { days: "mon-fri", from: "09:00", to: "17:00", timezone: "UTC" },
    ]);
    let looks = 0;
    const { at } = few;
    few.at = (instant, timezone) => {
      looks++;
      return at.call(few, instant, timezone);
    };
    const begin = Date.parse("2026-06-05T16:00Z");
    few.finishes(begin, 4_000 * hour, zones);
    expect(looks).toBeLessThan(200 * zones.length);
  });

  it("goes on while any zone is open", () => {
    const begin = Date.parse("2026-06-05T16:00Z");
    const done = weekdays.finishes(begin, 2 * hour, ["", "America/New_York"]);
    expect(new Date(done)).toEqual(new Date("2026-06-05T18:00Z"));
  });

  it("is never done if it takes more than a year", () => {
    expect(weekdays.finishes(0, 10_000 * hour, [""])).toBe(Number.POSITIVE_INFINITY);
  });
});
