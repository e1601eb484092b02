import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { daysOffOf, daysOffText } from "../../../../src/cli/dial/days-off.ts";

const folder = mkdtempSync(join(tmpdir(), "days-"));

afterAll(() => rmSync(folder, { recursive: true }));

const file = (text: string): string => {
  const path = join(folder, "days");
  writeFileSync(path, text);
  return path;
};

const event = (...lines: readonly string[]): string =>
  ["BEGIN:VEVENT", "UID:1", ...lines, "END:VEVENT", ""].join("\r\n");

const calendar = (...events: readonly string[]): string =>
  file(`BEGIN:VCALENDAR\r\nVERSION:2.0\r\n${events.join("")}END:VCALENDAR\r\n`);

const christmas = event("DTSTART;VALUE=DATE:20261224", "DTEND;VALUE=DATE:20261227");

describe("--except", () => {
  it("takes dates, several times, and gives each once, in order", () => {
    expect(daysOffOf(["2027-01-01, 2026-12-25", "2026-12-25"])).toEqual([
      "2026-12-25",
      "2027-01-01",
    ]);
  });

  it("takes a file with a date a line, where # begins a comment", () => {
    expect(daysOffOf([file("\ufeff2026-12-25 # Christmas\r\n\r\n# closed\n2027-01-01")])).toEqual([
      "2026-12-25",
      "2027-01-01",
    ]);
  });

  it("takes the whole days of a calendar: the day of an event's end is none of them", () => {
    expect(daysOffOf([calendar(christmas, event("DTSTART;VALUE=DATE:20270101"))])).toEqual([
      "2026-12-24",
      "2026-12-25",
      "2026-12-26",
      "2027-01-01",
    ]);
  });

  it.each([
    ["a length", ["DTSTART;VALUE=DATE:20270101", "DURATION:P2D"], ["2027-01-01", "2027-01-02"]],
    ["a length in hours", ["DTSTART:20270101", "DURATION:PT48H"], ["2027-01-01", "2027-01-02"]],
    [
      "a length with its sign",
      ["DTSTART:20270101", "DURATION:+P1DT1M"],
      ["2027-01-01", "2027-01-02"],
    ],
    ["an end on its first day", ["DTSTART:20270101", "DTEND:20270101"], ["2027-01-01"]],
    [
      "long lines, a colon in quotes, and an alarm",
      [
        'DTSTART;X-NAME="a:b";VALUE=',
        " DATE:202701",
        "\t01",
        ...["BEGIN:VALARM", "TRIGGER:-PT15M", "DURATION:PT5M", "RRULE:none of the event's"],
        "END:VALARM",
      ],
      ["2027-01-01"],
    ],
  ])("reads an event with %s", (_, lines, days) => {
    expect(daysOffOf([calendar(event(...lines))])).toEqual(days);
  });

  it("leaves out an event that was canceled, and what is no event", () => {
    const canceled = event("DTSTART;VALUE=DATE:20270101", "STATUS:CANCELLED");
    const task = "BEGIN:VTODO\r\nDTSTART;VALUE=DATE:20270102\r\nEND:VTODO\r\n";
    expect(daysOffOf([calendar(canceled, task, christmas)])).toHaveLength(3);
  });

  it.each([
    ["a rule", ["DTSTART:20261225", "RRULE:FREQ=YEARLY"], "line 3 .* repeats by RRULE"],
    ["a time of day", ["DTSTART:20261225T090000Z"], "has a time of day"],
    ["no date", ["DTSTART:20260230"], "has a time of day"],
    ["no start", [], "has a time of day"],
    ["an end that is no day", ["DTSTART:20261225", "DTEND:20261225T1"], "has no end within a year"],
    ["years", ["DTSTART:20261225", "DTEND:20281225"], "has no end within a year"],
  ])("refuses an event with %s, by the line where it begins", (_, lines, message) => {
    expect(() => daysOffOf([calendar(event(...lines))])).toThrow(new RegExp(message));
  });

  it.each([
    ["2026-02-30", "--except must be dates such as"],
    ["2026-12-25 2027-01-01", "--except must be dates such as"],
    [join(folder, "none"), "the file of --except cannot be read (ENOENT)"],
  ])("refuses %s", (text, message) => {
    expect(() => daysOffOf([text])).toThrow(message);
  });

  it.each([
    ["25.12.2026\n", "line 1 of the file is no date"],
    ["# nothing\n", "--except names no day"],
    ["BEGIN:VCALENDAR\nBEGIN:VEVENT\nDTSTART:20261225\n", "ends within an event"],
    ["BEGIN:VCALENDAR\nEND:VCALENDAR\n", "--except names no day"],
  ])("refuses a file with %j", (text, message) => {
    expect(() => daysOffOf([file(text)])).toThrow(message);
  });
});

it("the plan lists the days off that are to come", () => {
  const now = Date.parse("2026-12-26T12:00Z");
  expect(daysOffText(["2026-12-24", "2026-12-25", "2027-01-01"], now)).toBe(
    "not on 2026-12-25, 2027-01-01",
  );
  expect(daysOffText([], now)).toBe("");
  expect(daysOffText(["2026-01-01"], now)).toBe("every day off is over");
  const days = Array.from(
    { length: 12 },
    (_, day) => `2027-01-${String(day + 1).padStart(2, "0")}`,
  );
  expect(daysOffText(days, now)).toMatch(/^not on 2027-01-01, .*2027-01-10 and 2 more days$/);
});
