import { expect, test } from "vitest";
import { carrierOf, entriesWith, serviceNames } from "../conformance/services/index.ts";
import { execute, path } from "../examples/execute.ts";
import { partOf } from "../part.ts";
import { inspect } from "../runtimes/inspect.ts";
import { fuzz } from "./property.ts";

test.each(partOf(["node", "deno", "bun", "workerd"]))(
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

// `npm run fuzz -- --service twilio` also has other runtimes, and real connections.
test.each(serviceNames)("120 calls with %s keep every promise, here on Node", async (service) => {
  const subject = { entries: entriesWith(service), carrier: carrierOf(service) };
  const seeds = [1, 2, 3, 4, 5, 6];
  const counts = await Promise.all(seeds.map((seed) => fuzz(subject, inspect, seed, 20)));
  expect(counts.map(({ runs }) => runs)).toEqual(seeds.map(() => 20));
});
