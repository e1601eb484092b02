import { expect, test } from "vitest";
import { execute, path } from "./execute.ts";

test("the examples hold against the types of the built package", async () => {
  const { code, stdout } = await execute(path("test/node_modules/.bin/node"), [
    path("node_modules/typescript/bin/tsc"),
    "--project",
    path("test/examples"),
  ]);
  expect({ code, stdout }).toEqual({ code: 0, stdout: "" });
});

test("the Deno example holds against Deno's own types and the sources that JSR serves", async () => {
  const { code, stderr } = await execute(path("test/node_modules/.bin/deno"), [
    "check",
    `--config=${path("test/examples/jsr.json")}`,
    path("examples/deno/call.ts"),
  ]);
  expect(code, stderr).toBe(0);
});
