import { expect, test } from "vitest";
import { execute, path } from "../examples/execute.ts";

test.each(["node", "deno", "bun", "workerd"])(
  "400 calls of every kind keep every promise in %s",
  async (runtime) => {
    const node = path("test/node_modules/node/bin/node");
    const { code, stdout, stderr } = await execute(
      node,
      ["test/fuzz/run.ts", "--seed", "1", "--runs", "400", "--runtime", runtime],
      {},
      { patience: 850_000 },
    );
    expect(code, stdout + stderr).toBe(0);
  },
);
