import { readFileSync } from "node:fs";
import { UsageError } from "../command.ts";
import { readError } from "./csv.ts";

const dayLength = 86_400_000;

/** The longest event of a calendar, in days: a longer one is a mistake. */
const longestEvent = 366;

/** Whether a text such as `2026-12-25` is a date: February 30 is none. */
const isDate = (text: string): boolean => {
  const at = /^\d{4}-\d\d-\d\d$/.test(text) ? Date.parse(`${text}T00:00Z`) : Number.NaN;
  return !Number.isNaN(at) && new Date(at).toISOString().startsWith(text);
};

const dateRule = "dates such as 2026-12-25, a file with one a line, or an .ics calendar";

/** A line of a calendar, with what it continues on. */
interface Property {
  readonly line: number;
  /** In capitals, without its parameters. */
  readonly name: string;
  readonly value: string;
}

/** The lines of a calendar: one that begins with a space belongs to the line before it. */
const propertiesIn = (text: string): readonly Property[] => {
  const lines: { line: number; text: string }[] = [];
  for (const [index, each] of text.split(/\r\n|\r|\n/).entries()) {
    const last = lines.at(-1);
    if (/^[ \t]/.test(each) && last) last.text += each.slice(1);
    else lines.push({ line: index + 1, text: each });
  }
  return lines.flatMap(({ line, text: whole }) => {
    // A parameter may have a colon in quotes.
    const [, name = "", value = ""] = /^([\w-]+)(?:;(?:[^":]|"[^"]*")*)?:(.*)$/.exec(whole) ?? [];
    return name ? [{ line, name: name.toUpperCase(), value: value.trim() }] : [];
  });
};

/** Milliseconds since 1970 of `20261225`; `NaN` for anything else. */
const dayIn = (value: string): number => {
  const text = value.replace(/^(\d{4})(\d\d)(\d\d)$/, "$1-$2-$3");
  return text !== value && isDate(text) ? Date.parse(`${text}T00:00Z`) : Number.NaN;
};

/** A duration in weeks, days, hours, minutes and seconds. */
const durationShape =
  /^\+?P(?=[\dT])(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?)?$/;

/** Milliseconds of each part of a duration. */
const parts = [7 * dayLength, dayLength, 3_600_000, 60_000, 1_000] as const;

/** The whole days of a duration such as `P2D` or `PT36H`, in milliseconds; `NaN` for anything else. */
const lengthIn = (value: string): number => {
  const amounts = durationShape.exec(value.toUpperCase())?.slice(1);
  if (!amounts) return Number.NaN;
  const length = parts.reduce((sum, each, at) => sum + each * Number(amounts[at] ?? 0), 0);
  return Math.ceil(length / dayLength) * dayLength;
};

/** What an event can't have: then its days are not known. */
const unread = ["RRULE", "RDATE", "RECURRENCE-ID"];

/** The days of an event. The day of its end isn't one of them. */
const daysOf = (event: readonly Property[], line: number): readonly string[] => {
  const find = (name: string) => event.find((each) => each.name === name);
  const wrong = (what: string): UsageError =>
    new UsageError(`--except: the event of line ${line} of the calendar ${what}`);
  if (find("STATUS")?.value.toUpperCase() === "CANCELLED") return [];
  const repeated = event.find(({ name }) => unread.includes(name));
  if (repeated) throw wrong(`repeats by ${repeated.name}, which is not read: list its dates`);
  const start = dayIn(find("DTSTART")?.value ?? "");
  if (Number.isNaN(start)) throw wrong("has a time of day: only whole days are days off");
  const given = find("DTEND")?.value;
  const last =
    given === undefined ? start + lengthIn(find("DURATION")?.value ?? "P1D") : dayIn(given);
  const end = Math.max(last, start + dayLength);
  const isLong = !(end - start <= longestEvent * dayLength);
  if (isLong) throw wrong("has no end within a year that is a day");
  return Array.from({ length: (end - start) / dayLength }, (_, day) =>
    new Date(start + day * dayLength).toISOString().slice(0, 10),
  );
};

/** The days of all events of a calendar. */
const calendarDays = (text: string): readonly string[] => {
  const days: string[] = [];
  const open: string[] = [];
  let event: { readonly line: number; readonly properties: Property[] } | undefined;
  for (const property of propertiesIn(text)) {
    const { name, value, line } = property;
    if (name === "BEGIN") {
      open.push(value.toUpperCase());
      if (open.at(-1) === "VEVENT") event = { line, properties: [] };
    } else if (name === "END") {
      if (open.pop() === "VEVENT" && event) days.push(...daysOf(event.properties, event.line));
    } else if (open.at(-1) === "VEVENT") event?.properties.push(property);
  }
  if (open.length > 0) throw new UsageError("--except: the calendar ends within an event");
  return days;
};

/** The dates of a file: one a line, or a calendar. */
const daysIn = (file: string): readonly string[] => {
  let text: string;
  try {
    text = readFileSync(file, "utf8").replace(/^\ufeff/, "");
  } catch (error) {
    throw readError("the file of --except", error);
  }
  if (/^BEGIN:VCALENDAR/im.test(text)) return calendarDays(text);
  return text.split(/\r\n|\r|\n/).flatMap((line, index) => {
    const date = line.replace(/#.*/, "").trim();
    if (!date) return [];
    if (isDate(date)) return [date];
    throw new UsageError(`--except: line ${index + 1} of the file is no date such as 2026-12-25`);
  });
};

/**
 * The days on which nobody is called, in order: of dates with commas between them, and of files.
 *
 * @throws {UsageError} if one is no date, or a file can't be read
 */
export const daysOffOf = (texts: readonly string[]): readonly string[] => {
  const days = texts.flatMap((text) => {
    if (!/^[\d\s,-]+$/.test(text)) return daysIn(text);
    const dates = text.split(",").map((each) => each.trim());
    if (dates.every(isDate)) return dates;
    throw new UsageError(`--except must be ${dateRule}`);
  });
  if (texts.length > 0 && days.length === 0) {
    throw new UsageError(`--except names no day: it must be ${dateRule}`);
  }
  return [...new Set(days)].sort();
};

/** Most dates that the plan lists. */
const mostListed = 10;

/** The days off that are still to come, for the plan; empty without days off. */
export const daysOffText = (days: readonly string[], now: number): string => {
  if (days.length === 0) return "";
  // Yesterday, by the clock of the farthest zone, may not be over.
  const today = new Date(now - dayLength).toISOString().slice(0, 10);
  const next = days.filter((day) => day >= today);
  if (next.length === 0) return "every day off is over";
  const more = next.length > mostListed ? ` and ${next.length - mostListed} more days` : "";
  return `not on ${next.slice(0, mostListed).join(", ")}${more}`;
};
