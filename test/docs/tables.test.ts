import { expect, test } from "vitest";
import { limitsOf } from "../../src/agents/options.ts";
import { dialFlags } from "../../src/cli/dial/options.ts";
import { promptsRule } from "../../src/flows/prompts.ts";
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

/** The comment of an export. */
const commentOf = (file: string, name: string): string =>
  new RegExp(`/\\*\\*((?:(?!\\*/)[^])*)\\*/\\nexport const ${name} = `).exec(read(file))?.[1] ?? "";

test.each([
  ["src/flows/say.ts", "say"],
  ["src/flows/say.ts", "gather"],
  ["src/flows/record.ts", "record"],
])("in %s the comment of %s has the limits of prompts, as the rules have them", (file, name) => {
  const comment = commentOf(file, name).replaceAll(/\n \*/g, "");
  const limits = ["1 to 1 500 characters", "4 500, URL-encoded", "1 000 to 180 000 ms", "1 to 10"];
  expect(limits.filter((limit) => !comment.includes(limit))).toEqual([]);
  expect(promptsRule(["x".repeat(1_500)])).toBeUndefined();
  expect(promptsRule(["x".repeat(1_501)])).toContain("1500");
  expect(promptsRule([{ pause_ms: 180_000 }])).toBeUndefined();
  expect(promptsRule([{ pause_ms: 181_000 }])).toContain("1000 to 180000");
  expect(promptsRule(Array(11).fill("x"))).toContain("1 to 10");
});
