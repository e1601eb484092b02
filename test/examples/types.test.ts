import { readdirSync } from "node:fs";
import { expect, test } from "vitest";
import { execute, path } from "./execute.ts";

/** Type-checks a project; the files that it took are in the output. */
const check = (project: string) =>
  execute(path("test/node_modules/.bin/node"), [
    path("node_modules/typescript/bin/tsc"),
    ...["--project", path(project), "--listFiles"],
  ]);

const errors = /^.*error TS.*$/gm;

const platforms = ["workers", "deno", "bun", "lambda", "edge", "browser"];
const checked = new Set<string>();

test.each(platforms)("the examples hold against the platform's own types: %s", async (name) => {
  const { code, stdout } = await check(`test/examples/platforms/${name}.json`);
  expect({ code, errors: stdout.match(errors) }).toEqual({ code: 0, errors: null });
  for (const [, file = ""] of stdout.matchAll(/\/examples\/(.*)$/gm)) checked.add(file);
});

test("every example in TypeScript is in the project of a platform", () => {
  const files = readdirSync(path("examples"), { recursive: true, encoding: "utf8" });
  const forgotten = files.filter((file) => file.endsWith(".ts") && !checked.has(file));
  expect(forgotten).toEqual([]);
});

test("the tests of the examples hold against the types of the built package", async () => {
  const { code, stdout } = await check("test/examples");
  expect({ code, errors: stdout.match(errors) }).toEqual({ code: 0, errors: null });
});

test("the Deno example holds against Deno's own types and the sources that JSR serves", async () => {
  const { code, stderr } = await execute(path("test/node_modules/.bin/deno"), [
    "check",
    `--config=${path("examples/deno/clone.json")}`,
    path("examples/deno/call.ts"),
  ]);
  expect(code, stderr).toBe(0);
});
