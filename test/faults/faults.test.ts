import { expect, test } from "vitest";
import { execute, path } from "../examples/execute.ts";
import { announce } from "../output.ts";

// One test, as all runtimes share the server. `npm run faults` meets every fault in every runtime.
test("every fault ends as test/faults/README.md says, in a runtime that a seed chooses", {
  timeout: 900_000,
}, async () => {
  const node = path("test/node_modules/node/bin/node");
  const { code, stdout, stderr } = await execute(
    node,
    ["test/faults/run.ts", "--seed", "1"],
    { CHROMIUM_PATH: process.env.CHROMIUM_PATH ?? "" },
    { patience: 890_000 },
  );
  expect(code, stdout + stderr).toBe(0);
  for (const [line] of stdout.matchAll(/^not run: .+$/gm)) announce(line);
});

// What differs with a carrier is what its statuses mean: `npm run faults -- --service twilio` has all faults.
test("every status means what Twilio documents", async () => {
  const { code, stdout, stderr } = await execute(
    path("test/node_modules/node/bin/node"),
    ["test/faults/run.ts", "--runtime", "node24", "--only", "^[345]\\d\\d", "--service", "twilio"],
    {},
    { patience: 890_000 },
  );
  expect(code, stdout + stderr).toBe(0);
});
