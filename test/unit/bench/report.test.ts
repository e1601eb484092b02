import { expect, test } from "vitest";
import { type Measured, markdown } from "../../bench/report/markdown.ts";

const section: Measured = {
  name: "per-call",
  title: "Per call",
  how: "One after the other.",
  date: "2026-11-21",
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

test("a bar in a cell does not end the cell", () => {
  expect(page).toContain("| a \\| b | 1 |");
});
