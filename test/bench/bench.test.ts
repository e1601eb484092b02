import { expect, test } from "vitest";
import { execute, path } from "../examples/execute.ts";

test("every client, and every measurement, runs once", async () => {
  const node = path("test/node_modules/node/bin/node");
  const { code, stdout, stderr } = await execute(
    node,
    ["test/bench/run.ts", "--smoke"],
    {},
    { patience: 280_000 },
  );
  expect(code, stdout + stderr).toBe(0);
});
