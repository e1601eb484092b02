import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { afterAll, expect, test } from "vitest";
import { checkTypes, path } from "../examples/execute.ts";

const file = new URL("../../src/campaigns/disposition.ts", import.meta.url);
const source = readFileSync(file, "utf8");

const folder = mkdtempSync(join(tmpdir(), "dispositions-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** Each row of the table: a name, an object. */
const [, table = ""] = /const table: Table = \{\n([\s\S]*?)\n\};/.exec(source) ?? [];
const rows = [...table.matchAll(/^ {2}(\w+): \{(?:.*\},$|\n(?: {4}.*\n)+ {2}\},$)/gm)];

test("tsc fails without any row of the table of dispositions", async () => {
  expect(rows.length).toBeGreaterThan(10);
  const names = ["whole", ...rows.map(([, name = ""]) => name)];
  writeFileSync(join(folder, "whole.ts"), source);
  for (const [row, name = ""] of rows) {
    writeFileSync(join(folder, `${name}.ts`), source.replace(`${row}\n`, "").replace(row, ""));
  }
  const compilerOptions = {
    strict: true,
    noEmit: true,
    target: "es2022",
    lib: ["es2022"],
    types: [],
  };
  const config = { compilerOptions, files: names.map((name) => `${name}.ts`) };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(config));
  const { stdout } = await checkTypes(relative(path("."), folder));
  const wrong = new Set([...stdout.matchAll(/(\w+)\.ts[:(]/g)].map(([, name]) => name));
  expect([...wrong].sort(), stdout).toEqual(names.slice(1).sort());
});
