import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { interleave, kB, number, ratio, reasonOf, spread, summary } from "./rounds.ts";
import { benchOf, command } from "./stub-runtime.ts";

const ask = { calls: 1, inFlight: 1, warmUp: 0 };

const entriesOf = (figures: Readonly<Record<string, unknown>>) => {
  const { files } = benchOf(figures);
  return Object.keys(figures).map((name) => ({
    name,
    command: [...command, files.calls ?? "", "rounds", files[name] ?? ""],
  }));
};

test("everyone is measured in each round, and the warm-up is not counted", async () => {
  const { measured, failed } = await interleave(
    entriesOf({
      one: [{ wall: 99 }, { wall: 1 }, { wall: 2 }],
      other: [{ wall: 98 }, { wall: 3 }],
    }),
    2,
    ask,
    ask,
  );
  expect(Object.fromEntries(measured)).toEqual({
    one: [{ wall: 1 }, { wall: 2 }],
    other: [{ wall: 3 }, { wall: 3 }],
  });
  expect(failed.size).toBe(0);
});

test("a client that fails is left out with its error, and the rest go on", async () => {
  const { measured, failed } = await interleave(
    entriesOf({ good: [{ wall: 1 }], broken: [], later: [{ wall: 2 }, { wall: 2 }, null] }),
    2,
    ask,
    ask,
  );
  expect([...measured.keys()]).toEqual(["good"]);
  expect(measured.get("good")).toHaveLength(2);
  expect([...failed.keys()]).toEqual(["broken", "later"]);
  expect(failed.get("later")).toContain("It broke");
});

test("a reason is one line, without colours and paths", () => {
  const said = "at x\n\u001b[31mError: no (file:///somewhere/a.ts:1:2)\nstack";
  expect(reasonOf(new Error(said))).toBe("Error: no");
});

describe("a summary", () => {
  test("has the value in the middle, in the order of numbers", () => {
    expect(summary([100, 9, 10]).median).toBe(10);
  });

  test("of an even number of values lies halfway between the two in the middle", () => {
    expect(summary([4, 1, 3, 2]).median).toBe(2.5);
  });

  test("has the quartiles, between the values where they fall there", () => {
    expect(summary([1, 2, 3, 4, 5])).toEqual({ median: 3, low: 2, high: 4, rounds: 5 });
    expect(summary([1, 2, 3, 4])).toEqual({ median: 2.5, low: 1.75, high: 3.25, rounds: 4 });
  });

  test("of one value has no spread", () => {
    expect(summary([7])).toEqual({ median: 7, low: 7, high: 7, rounds: 1 });
  });

  test("of nothing, or with a value that is no number, is no number", () => {
    expect(summary([])).toEqual({
      median: Number.NaN,
      low: Number.NaN,
      high: Number.NaN,
      rounds: 0,
    });
    expect(summary([Number.NaN]).median).toBeNaN();
  });

  test("leaves the values as they were", () => {
    const values = [3, 1, 2];
    summary(values);
    expect(values).toEqual([3, 1, 2]);
  });

  test("does not move with one wild round", () => {
    expect(summary([10, 10, 10, 10, 5_000])).toMatchObject({ median: 10, low: 10, high: 10 });
  });

  const rounds = fc.array(fc.integer({ min: 1, max: 1_000_000 }), { minLength: 1, maxLength: 50 });

  test("has half of the values on either side, whatever their order", () => {
    fc.assert(
      fc.property(rounds, fc.infiniteStream(fc.nat()), (values, luck) => {
        const { median, low, high } = summary(values);
        expect(low).toBeLessThanOrEqual(median);
        expect(median).toBeLessThanOrEqual(high);
        const half = values.length / 2;
        expect(values.filter((each) => each < median).length).toBeLessThanOrEqual(half);
        expect(values.filter((each) => each > median).length).toBeLessThanOrEqual(half);
        const shuffled = values
          .map((each) => ({ each, at: luck.next().value ?? 0 }))
          .toSorted((a, b) => a.at - b.at)
          .map(({ each }) => each);
        expect(summary(shuffled)).toEqual(summary(values));
      }),
    );
  });
});

describe("a ratio", () => {
  test("is taken within each round, so that a slow moment of the machine drops out", () => {
    expect(ratio([20, 200, 30], [10, 100, 15])).toEqual({ median: 2, low: 2, high: 2, rounds: 3 });
  });

  test("is not the ratio of the medians", () => {
    const ones = [1, 2, 9];
    const others = [1, 4, 3];
    expect(summary(ones).median / summary(others).median).toBeCloseTo(2 / 3);
    expect(ratio(ones, others).median).toBe(1);
  });

  test("of a round that the other did not have is no number", () => {
    expect(ratio([1], []).median).toBeNaN();
  });
});

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
