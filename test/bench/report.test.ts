import { expect, test } from "vitest";
import { comparisons, headline, type Measured, markdown } from "./report.ts";
import type { Standing } from "./section.ts";

const section: Measured = {
  name: "per-call",
  title: "Per call",
  how: "One after the other.",
  date: "2026-11-21",
  commit: "2bf56ac",
  noise: "none",
  tables: [{ columns: ["client", "µs"], rows: [["a | b", "1"]] }],
  targets: [
    { goal: "fast", measured: "1", met: true },
    { goal: "faster", measured: "2", met: false },
    { goal: "fastest", measured: "3", met: false },
  ],
  plots: [],
  remarks: [],
  raw: {},
};
const page = markdown({
  machine: "2 cores",
  versions: { "Node 24": "24.0.0" },
  absent: [],
  notes: [],
  sections: [section, { ...section, title: "Size", targets: [] }],
});

test("a goal that is missed is printed as missed", () => {
  expect(page).toContain("| fast | 1 | met |");
  expect(page).toContain("| faster | 2 | **missed** |");
});

test("the first lines count what is met and what is missed, over all sections", () => {
  expect(page).toContain("2 cores. 1 of 3 goals met, 2 missed.");
});

test("a section names the commit whose code it measured", () => {
  expect(page).toContain("2026-11-21, the code of commit 2bf56ac; noise: none.");
});

test("a bar in a cell does not end the cell", () => {
  expect(page).toContain("| a \\| b | 1 |");
});

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
