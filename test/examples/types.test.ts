import { readdirSync } from "node:fs";
import { expect, test } from "vitest";
import { checkTypes, execute, path } from "./execute.ts";

/** Type-checks a project; the files that it took are in the output. */
const check = (project: string) => checkTypes(project, "--listFiles");

const errors = /^.*error TS.*$/gm;

const platforms = ["workers", "node", "deno", "bun", "lambda", "edge", "browser"];
const checked = new Set<string>();

test.each(platforms)("the examples hold against the platform's own types: %s", async (name) => {
  const { code, stdout } = await check(`test/examples/platforms/${name}.json`);
  expect({ code, errors: stdout.match(errors) }).toEqual({ code: 0, errors: null });
  const folder = path("examples/");
  for (const line of stdout.split("\n")) {
    if (line.startsWith(folder)) checked.add(line.slice(folder.length));
  }
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

test("what runs on Deno compiles with Deno's own types and the sources that JSR serves", async () => {
  const { code, stderr } = await execute(path("test/node_modules/.bin/deno"), [
    "check",
    `--config=${path("examples/deno.json")}`,
    path("examples/deno/call.ts"),
    path("examples/bridge/deno.ts"),
  ]);
  expect(code, stderr).toBe(0);
});
