import { expect, it } from "vitest";
import { durationOf, durationText } from "../../../../src/cli/dial/durations.ts";

it.each([
  ["90", 90_000],
  ["90s", 90_000],
  ["1h30m", 5_400_000],
  ["2d", 172_800_000],
])("reads %s", (text, milliseconds) => {
  expect(durationOf("settle", text)).toBe(milliseconds);
});

it.each(["", "m", "1.5h", "-5m", "5 m", "1w"])("refuses %j by the flag", (text) => {
  expect(() => durationOf("settle", text)).toThrow("--settle must be a time such as 90s");
});

it("refuses what is out of range, by the flag", () => {
  expect(durationOf("settle", "3650d")).toBe(315_360_000_000);
  for (const text of ["3651d", `${"9".repeat(400)}h`]) {
    expect(() => durationOf("settle", text)).toThrow("--settle must be at most 3650d");
  }
  expect(() => durationOf("settle", "0s", 1)).toThrow("--settle must be 1s or more");
});

it.each([
  [0, "0 s"],
  [59.2, "60 s"],
  [7_500, "2 h 5 min"],
  [90_000, "1 d 1 h"],
])("writes %s seconds as %s", (seconds, text) => {
  expect(durationText(seconds)).toBe(text);
});
