import { expect, test } from "vitest";
import { execute, path } from "../examples/execute.ts";

const node = path("test/node_modules/node/bin/node");

test("biome has nothing to change", async () => {
  const { code, stdout, stderr } = await execute(path("node_modules/.bin/biome"), ["check", "."]);
  expect(code, stdout + stderr).toBe(0);
});

test("no file, export or package is unused (knip)", async () => {
  const { code, stdout } = await execute(node, ["node_modules/knip/bin/knip.js"]);
  expect(code, stdout).toBe(0);
});

test("the bundles are within their sizes in test/package.json", async () => {
  const args = ["node_modules/size-limit/bin.js"];
  const { code, stdout, stderr } = await execute(node, args, {}, { cwd: path("test") });
  expect(code, stdout + stderr).toBe(0);
});
