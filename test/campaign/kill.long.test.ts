import { expect, test } from "vitest";
import { chaos } from "./chaos.ts";

test("a runtime killed at any moment goes on by itself, and nobody is called twice", async () => {
  const { faults } = await chaos({ contacts: 200, kills: 3, seed: 20_261_121, shards: 2, lost: 0 });
  expect(faults).toEqual([]);
});
