import { expect, test } from "vitest";
import { limitsOf } from "../../src/agents/options.ts";
import { dialFlags } from "../../src/cli/dial/options.ts";
import { read } from "./sources.ts";

/** The first cell of each row in the tables of a text. */
const firstCells = (text: string): readonly string[] =>
  [...text.matchAll(/^\| (.*?) \|/gm)].map(([, cell = ""]) => cell);

test("docs/at-scale.md has each option of outdial dial in its tables of options", () => {
  const [, options = ""] = read("docs/at-scale.md").split("\n## Options");
  const [tables = ""] = options.split("\n## ");
  const named = firstCells(tables).flatMap((cell) => cell.match(/--[\w-]+/g) ?? []);
  expect(new Set(named)).toEqual(new Set(Object.keys(dialFlags).map((flag) => `--${flag}`)));
});

test("docs/agents.md has each option of connectAgent in a table, and the default of each limit", () => {
  const source = read("src/agents/options.ts");
  const [, options = ""] =
    /^export interface SessionOptions [^{]*\{\n(.*?)^\}/ms.exec(source) ?? [];
  const names = [...options.matchAll(/^ {2}readonly (\w+)\?:/gm)].map(([, name = ""]) => name);
  expect(names).toContain("maxDuration");
  const page = read("docs/agents.md");
  const cells = firstCells(page);
  expect(names.filter((name) => !cells.includes(`\`${name}\``))).toEqual([]);
  for (const [name, value] of Object.entries(limitsOf({}))) {
    const text = Number.isFinite(value) ? value.toLocaleString("en") : "none";
    expect(page).toContain(`| \`${name}\` | ${text} |`);
  }
});
