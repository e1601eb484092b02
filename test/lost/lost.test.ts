import { expect, test } from "vitest";
import { execute, path } from "../examples/execute.ts";

// `npm run lost` has 1,000 calls in each runtime, and a seed of its own.
test("120 calls with lost answers in each of three runtimes are one call each at the service", async () => {
  const node = path("test/node_modules/node/bin/node");
  const args = ["test/lost/run.ts", "--seed", "7", "--calls", "120"];
  const { code, stdout, stderr } = await execute(node, args, {}, { patience: 850_000 });
  expect(code, stdout + stderr).toBe(0);
});

test("a list of 60 contacts whose process is killed twice among lost answers calls nobody twice, and nearly all are known", async () => {
  const node = path("test/node_modules/node/bin/node");
  const args = ["test/lost/run.ts", "list", "--seed", "7", "--calls", "60", "--kills", "2"];
  const { code, stdout, stderr } = await execute(node, args, {}, { patience: 850_000 });
  expect(code, stdout + stderr).toBe(0);
});
