import { expect, test } from "vitest";
import { nearest } from "../../../src/cli/command.ts";

const words = ["from", "callback", "base-url", "json", "emulator"];

test.each([
  ["frm", "from"],
  ["form", "from"],
  ["fromm", "from"],
  ["calback", "callback"],
  ["call-back", "callback"],
  ["baseurl", "base-url"],
  ["JSON", "json"],
  ["emualtor", "emulator"],
])("%s was meant as %s", (given, meant) => {
  expect(nearest(given, words)).toBe(meant);
});

test.each([["x"], [""], ["recording"], ["to"], ["j".repeat(1_000_000)]])(
  "what is near nothing is no guess",
  (given) => {
    expect(nearest(given, words)).toBeUndefined();
  },
);
