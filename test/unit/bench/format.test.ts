import { expect, test } from "vitest";
import { kB, number, spread } from "../../bench/format.ts";

test.each([
  [0.123, "0.12"],
  [9.876, "9.88"],
  [12.34, "12.3"],
  [123.4, "123"],
  [1_234.5, "1 235"],
  [1_234_567, "1 234 567"],
  [-1_234, "-1 234"],
])("%d is written %s", (value, text) => {
  expect(number(value)).toBe(text);
});

test("a summary is its median, and its quartiles behind it", () => {
  expect(spread({ median: 2.5, low: 1.75, high: 3.25, rounds: 4 })).toBe("2.50 (1.75 – 3.25)");
});

test("a kB has 1,000 bytes", () => {
  expect(kB(13_100)).toBe("13.1 kB");
});
