import { expect, test } from "vitest";
import { execute, path } from "../examples/execute.ts";

test("every one of 600 calls under load is accounted for", async () => {
  const node = path("test/node_modules/node/bin/node");
  const { code, stdout, stderr } = await execute(
    node,
    ["test/soak/run.ts", "--calls", "600"],
    {},
    { patience: 850_000 },
  );
  expect(code, stdout + stderr).toBe(0);
});
