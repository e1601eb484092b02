import { expect, test } from "vitest";
import { twoAgents } from "../../examples/two-agents/two-agents.ts";

test("two agents take turns on one line, each with its own patience", async () => {
  const { turns, firstAudio, overlap, end } = await twoAgents();
  expect(turns.map(({ from, to }) => Math.round((to - from) / 100))).toEqual([15, 12]);
  for (const { response } of turns) expect(Math.abs((response ?? 0) - 500)).toBeLessThan(25);
  const [first] = turns;
  const greeted = (firstAudio.max ?? 0) + 1_000;
  expect(Math.abs((first?.from ?? 0) - greeted - 700)).toBeLessThan(45);
  expect(overlap).toBe(0);
  expect(end.session).toBe("hung_up");
});
