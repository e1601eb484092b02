import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { busy, first, type Job, waiting } from "../../jobs.ts";

const jobs = [...first, ...busy, ...waiting];
const namesIn = (file: string, field: "dependencies" | "devDependencies"): string[] =>
  Object.keys(JSON.parse(readFileSync(file, "utf8"))[field]);

/** The packages that a file of `test/` imports, itself or by others of `test/`. */
const packagesOf = (file: string, seen = new Set<string>()): string[] => {
  if (seen.has(file) || !file.startsWith("test/") || !existsSync(file)) return [];
  seen.add(file);
  const imports = /^(?:import|export)\s(?!type\s)[^;]*?from "([^"]+)"|^import "([^"]+)"/gm;
  return [...readFileSync(file, "utf8").matchAll(imports)].flatMap(([, from, bare]) => {
    const name = from ?? bare ?? "";
    if (name.startsWith(".")) return packagesOf(join(dirname(file), name), seen);
    return /^node:/.test(name) ? [] : [/^(@[^/]+\/)?[^/]+/.exec(name)?.[0] ?? name];
  });
};

const imported = (glob: string): string[] => [
  ...new Set(globSync(glob).flatMap((file) => packagesOf(file))),
];

test("what the unit tests and their jobs import is there without the other runtimes", () => {
  const here = namesIn("test/package.json", "dependencies");
  const root = ["dependencies", "devDependencies"] as const;
  const there = ["outdial", ...here, ...root.flatMap((field) => namesIn("package.json", field))];
  const used = imported("test/{unit,jobs}/**/*.ts");
  expect(used.filter((name) => !there.includes(name))).toEqual([]);
  expect(here.filter((name) => ![...used, "node"].includes(name))).toEqual([]);
});

test("a job without the need for runtimes runs under Node 24", () => {
  const others = /node_modules\/(node2\d|\.bin\/)|workerd|edge|chromium/;
  const runsElsewhere = ({ command, needs }: Job) =>
    !needs.includes("runtimes") && command.some((word) => others.test(word) && !/biome/.test(word));
  expect(jobs.filter(runsElsewhere).map(({ name }) => name)).toEqual([]);
});

test("no two jobs have the same name, as each has a log of its own", () => {
  const names = jobs.map(({ name }) => name);
  expect(names).toEqual([...new Set(names)]);
});
