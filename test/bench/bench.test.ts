import { expect, test } from "vitest";
import { execute, path } from "../examples/execute.ts";

// What takes longest is left to `npm run bench -- --smoke`: size, cold-start, carriers, loopback, signatures and agents.
test("clients of each kind are measured once, and so are memory, the emulator and lists", async () => {
  const node = path("test/node_modules/node/bin/node");
  const { code, stdout, stderr } = await execute(
    node,
    ["test/bench/run.ts", "--smoke", "per-call", "memory", "emulator", "lists"],
    {},
    { patience: 850_000 },
  );
  expect(code, stdout + stderr).toBe(0);
});
