import { expect, it } from "vitest";
import { cell } from "../../../../src/cli/commands/results.ts";

it.each([
  ["a-1", "a-1"],
  [undefined, ""],
  [3, "3"],
  ["=1+1", "'=1+1"],
  ["'=1+1", "''=1+1"], // another text, so another cell
  ["''=1+1", "'''=1+1"],
  ["'tis", "'tis"],
  ["  =1+1", "'=1+1"],
  ["+12025550101", "'+12025550101"],
  ["@sum", "'@sum"],
  // Some spreadsheets read full-width signs as the plain ones.
  ["＝1+1", "'＝1+1"],
  ["＋1", "'＋1"],
  ["－1", "'－1"],
  ["＠sum", "'＠sum"],
  ["a,b", '"a,b"'],
  ['"a"', '"""a"""'],
  // Where a spreadsheet separates by semicolons, quotes don't hold a cell together.
  ["a;=1+1;b", `"a;'=1+1;b"`],
  ['a;"=1+1"', `"a;""'=1+1"""`],
  ["a|@b", `"a|'@b"`],
  // What a terminal would obey, and what ends a cell.
  ["\u001b]0;owned\u0007\u001b[2J", '"]0;owned [2J"'],
  ["a\t=1\r\n=2", "a =1 =2"],
  ["\u202ebusy", "busy"],
])("writes %j as %s", (value, text) => {
  expect(cell(value)).toBe(text);
});
