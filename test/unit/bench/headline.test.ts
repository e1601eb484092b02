import { expect, test } from "vitest";
import { comparisons, headline } from "../../bench/report/headline.ts";
import type { Standing } from "../../bench/section.ts";

const standing: Standing = {
  entry: "outdial/fetch",
  what: "the size of a Worker",
  other: "`smallest`",
  ahead: 2,
};
const rate = { ...standing, what: "calls a second", other: "`axios`" };
const other = { ...standing, entry: "outdial", ahead: 0.8 } as const;

test("a sentence says in how many comparisons each entry is ahead, and where by most", () => {
  const [leads] = headline([
    standing,
    { ...rate, where: "1 in flight", ahead: 1.25 },
    { ...rate, where: "50 in flight", ahead: 0.5 },
    other,
  ]);
  expect(leads).toContain(
    "`outdial/fetch` is ahead in 2 of 3 (most in the size of a Worker: 2.00 x `smallest`), " +
      "and `outdial` is ahead in 0 of 1.",
  );
});

test("another says in how many it is not, and where it is furthest behind", () => {
  const [, , trails] = headline([
    standing,
    { ...rate, where: "1 in flight", ahead: 0.9 },
    { ...rate, where: "50 in flight", ahead: 0.5 },
    other,
  ]);
  expect(trails).toContain(
    "`outdial/fetch` is level or behind in 2 of 3 (least in calls a second, 50 in flight: 0.50 x `axios`), " +
      "and `outdial` is level or behind in 1 of 1 (least in the size of a Worker: 0.80 x `smallest`).",
  );
});

test.each([0.5, 1, Number.NaN])("%d times as good is no lead", (ahead) => {
  const [leads, , trails] = headline([standing, { ...rate, ahead }]);
  expect(leads).toContain("ahead in 1 of 2");
  expect(trails).toContain("level or behind in 1 of 2 (least in calls a second");
});

test("each comparison is a row, each entry a column, and a lead is bold", () => {
  expect(comparisons([standing, other, { ...rate, where: "1 in flight", ahead: 1 }])).toEqual([
    {
      columns: ["2 x is twice as good", "the best other", "`outdial/fetch`", "`outdial`"],
      rows: [
        ["the size of a Worker", "`smallest`", "**2.00 x**", "0.80 x"],
        ["calls a second, 1 in flight", "`axios`", "1.00 x", "–"],
      ],
    },
  ]);
});

test("nothing is said while nobody was compared", () => {
  expect(headline([])).toEqual([]);
  expect(comparisons([])).toEqual([]);
});
