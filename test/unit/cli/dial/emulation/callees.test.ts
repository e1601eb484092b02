import { describe, expect, test } from "vitest";
import { assignCallees, calleesIn, seedIn } from "../../../../../src/cli/dial/emulation/callees.ts";

const numbers = Array.from(
  { length: 200 },
  (_, index) => `+49301${String(index).padStart(6, "0")}`,
);

const names = (text: string, seed: number, attempt = 1, of = numbers): readonly string[] => {
  const decide = assignCallees(calleesIn(text), of, seed);
  return of.map((number) => decide(number, attempt).name);
};

const countsOf = (all: readonly string[]): Record<string, number> => {
  const counts: Record<string, number> = {};
  for (const name of all) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
};

describe("--callees", () => {
  test("has shares of what the emulator's numbers do, and of keys", () => {
    expect(calleesIn("machine=20%, busy=12.5%,press=1:60%,press=4/5#:7.5%")).toEqual([
      {
        name: "machine",
        outcome: { outcome: "answer", answeredBy: "machine" },
        keys: [],
        share: 0.2,
      },
      { name: "busy", outcome: { outcome: "busy" }, keys: [], share: 0.125 },
      { name: "press=1", outcome: { outcome: "answer" }, keys: ["1"], share: 0.6 },
      { name: "press=4/5#", outcome: { outcome: "answer" }, keys: ["4", "5#"], share: 0.075 },
    ]);
  });

  test.each([
    ["machine", "the share of machine must be above 0% and at most 100%"],
    ["machine=20", "the share of machine must be"],
    ["machine=0%", "the share of machine must be"],
    ["machine=101%", "the share of machine must be"],
    ["machine=-5%", "the share of machine must be"],
    ["press=1", "the share of press=1 must be"],
    ["press=:60%", "press must have keys and a share: press=1:60%"],
    ["press=a:60%", "press must have keys and a share"],
    ["press=1:60%:2", "press must have keys and a share"],
    ["bussy=10%", "bussy is none of answered, busy, .* and press: did you mean busy\\?"],
    ["silent=10%", "silent is none of"],
    ["=10%", "must be shares such as machine=20%,busy=10%,press=1:60%"],
    ["", "must be shares such as"],
    ["busy=10%,", "must be shares such as"],
    ["busy=10%,busy=20%", "has busy twice"],
    ["press=1:10%,press=1:20%", "has press=1 twice"],
    ["busy=60%,machine=40.5%", "adds up to 100.5%: at most 100%"],
  ])("%s is refused by name", (text, message) => {
    expect(() => calleesIn(text)).toThrow(new RegExp(message));
  });

  test("may add up to 100% in thirds", () => {
    expect(calleesIn("busy=33.3%,machine=33.3%,press=1:33.4%")).toHaveLength(3);
  });

  test("a seed is a whole number", () => {
    expect(seedIn("42")).toBe(42);
    for (const text of ["", "1.5", "-1", "x", "1e3", "1234567890123456"]) {
      expect(() => seedIn(text)).toThrow("--seed must be a whole number");
    }
  });
});

describe("who does what", () => {
  test("has the shares of the contacts, and who is left answers", () => {
    expect(countsOf(names("machine=20%,busy=10%,press=1:60%", 1))).toEqual({
      ...{ machine: 40, busy: 20, "press=1": 120, answered: 20 },
    });
  });

  test("is rounded to whole contacts, whose sum is right", () => {
    const counts = countsOf(names("busy=33%,machine=33%,press=1:34%", 1, 1, numbers.slice(0, 10)));
    expect(Object.values(counts).reduce((sum, one) => sum + one)).toBe(10);
    expect(counts.answered).toBeUndefined();
  });

  test("is the same for a seed, and another for another", () => {
    const text = "machine=50%";
    expect(names(text, 7)).toEqual(names(text, 7));
    expect(names(text, 7)).not.toEqual(names(text, 8));
  });

  test("doesn't depend on the order of the list", () => {
    const decide = assignCallees(calleesIn("machine=50%"), numbers.toReversed(), 7);
    expect(numbers.map((number) => decide(number, 1).name)).toEqual(names("machine=50%", 7));
  });

  test("is drawn again for a later attempt, by about the same shares", () => {
    const second = names("busy=50%", 1, 2);
    expect(second).not.toEqual(names("busy=50%", 1));
    expect(countsOf(second).busy).toBeGreaterThan(80);
    expect(countsOf(second).busy).toBeLessThan(120);
  });
});
