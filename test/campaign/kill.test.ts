import { expect, test } from "vitest";
import { chaos } from "./chaos.ts";

test("a runtime killed at any moment goes on by itself, and nobody is called twice", {
  timeout: 180_000,
}, async () => {
  const { faults, summary } = await chaos({ contacts: 300, kills: 5, seed: 20_261_121, shards: 2 });
  expect(faults).toEqual([]);
  // The rest was on its way in the moment of a kill, the more of it the slower the machine is.
  expect(summary.posts).toBeGreaterThan(200);
});
