import { expect, test } from "vitest";
import { execute, path } from "../examples/execute.ts";

test("the entry for Deno holds against Deno's own types and the sources that JSR serves", async () => {
  const { code, stderr } = await execute(path("test/node_modules/.bin/deno"), [
    "check",
    `--config=${path("examples/bridge/clone.json")}`,
    path("examples/bridge/deno.ts"),
  ]);
  expect(code, stderr).toBe(0);
});
