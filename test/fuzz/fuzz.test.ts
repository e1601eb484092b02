import { expect, test } from "vitest";
import { serviceNames } from "../conformance/services/index.ts";
import { execute, path } from "../examples/execute.ts";

const fuzz = async (...args: readonly string[]): Promise<void> => {
  const node = path("test/node_modules/node/bin/node");
  const { code, stdout, stderr } = await execute(
    node,
    ["test/fuzz/run.ts", "--seed", "1", ...args],
    {},
    { patience: 850_000 },
  );
  expect(code, stdout + stderr).toBe(0);
};

test.each(["node", "deno", "bun", "workerd"])(
  "400 calls of every kind keep every promise in %s",
  (runtime) => fuzz("--runs", "400", "--runtime", runtime),
);

test.each(serviceNames)("120 calls with %s keep every promise", (service) =>
  fuzz("--runs", "120", "--runtime", "node", "--service", service),
);
