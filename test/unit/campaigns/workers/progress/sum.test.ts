import { expect, it } from "vitest";
import { merged } from "../../../../../src/campaigns/workers/progress/history.ts";
import { sumOf } from "../../../../../src/campaigns/workers/progress/sum.ts";
import { stageOf } from "../../stage.ts";

const progress = async (more = {}) => ({ ...(await stageOf()).campaign.progress(), ...more });

it("a campaign with a shard that waits is paused, for that shard's reason", async () => {
  const paused = await progress({ state: "paused", reason: "403", waiting: 2 });
  const sum = sumOf([await progress({ completed: 3 }), paused]);
  expect(sum).toMatchObject({ state: "paused", reason: "403", done: false });
  expect(sum).toMatchObject({ contacts: 5, completed: 3, waiting: 2 });
});

it("each shard counts in a history as it last was", async () => {
  const at = async (time: number, completed: number) => ({
    ...(await progress({ completed })),
    at: time,
  });
  const histories = [
    [await at(5, 1), await at(15, 2)],
    [await at(10, 10), await at(20, 30)],
  ];
  const counts = merged(histories, sumOf).map((one) => [one.at, one.completed]);
  expect(counts).toEqual([
    [5, 1],
    [10, 11],
    [15, 12],
    [20, 32],
  ]);
});
