import { expect, it } from "vitest";
import { senderOf } from "../../../src/campaigns/request.ts";
import { numberOf, people, stageOf } from "./stage.ts";

const senders = ["+12025550191", "+12025550192", "+12025550193"];
const [first = "", second = ""] = senders;

it("each contact gets one of several numbers, and all get about as many", async () => {
  const stage = await stageOf({ from_number: senders });
  await stage.campaign.add(people(300));
  await stage.play();
  const counts = senders.map(
    (sender) => stage.posts.filter(({ from_number }) => from_number === sender).length,
  );
  for (const count of counts) expect(count).toBeGreaterThan(75);
});

it("a hash by which shards are chosen leaves each shard all numbers", async () => {
  const { shardOf } = await import("../../../src/campaigns/workers/index.ts");
  const own = people(400).filter(({ to_number }) => shardOf(to_number, 3) === 1);
  const used = new Set(own.map(({ to_number }) => senderOf(to_number, senders)));
  expect(used.size).toBe(3);
});

it("keeps it at each attempt, also when the list of numbers changes", async () => {
  const stage = await stageOf({ from_number: senders, attempts: 2, retryDelay: 0 });
  await stage.campaign.add(people(30));
  await stage.play();
  const before = new Map(stage.posts.map(({ to_number, from_number }) => [to_number, from_number]));
  for (const post of stage.posts.keys()) await stage.tell(post, "call.failed", "busy");
  const again = await stage.reopen({ from_number: ["+12025550198"] });
  await again.play();
  expect(again.posts).toHaveLength(30);
  for (const { to_number, from_number } of again.posts) {
    expect(from_number).toBe(before.get(to_number));
  }
});

it("a contact's own number comes before those of the campaign", async () => {
  const stage = await stageOf({ from_number: senders });
  const own = "+12025550177";
  await stage.campaign.add([{ to_number: numberOf(0), from_number: own }]);
  await stage.campaign.sync([
    { to_number: numberOf(0), from_number: own },
    { to_number: numberOf(1), from_number: first },
  ]);
  const list = [
    { to_number: numberOf(0), from_number: own },
    { to_number: numberOf(1), from_number: second },
  ];
  expect(await stage.campaign.sync(list)).toMatchObject({ changed: 1 });
  await stage.play();
  expect(stage.posts.map(({ from_number }) => from_number)).toEqual([own, second]);
});

it("a contact whose number is none is refused with its line", async () => {
  const { campaign } = await stageOf();
  const { refused } = await campaign.add([{ to_number: numberOf(0), from_number: "me" }]);
  expect(refused).toEqual([{ line: 1, reason: expect.stringContaining("from_number must be") }]);
});

it.each([[[]], [["me"]], [7]])("%j is refused by its name", async (from_number) => {
  const given: object = { from_number };
  await expect(stageOf(given)).rejects.toThrow(/from_number/);
});

it("a ledger is known by flowName where the URL of the flow changes", async () => {
  const stage = await stageOf({ flowName: "survey.ts" });
  const moved = { flow_url: "https://other.test/flow" };
  await expect(stage.reopen(moved)).resolves.toBeDefined();
  await expect(stage.reopen({ ...moved, flowName: "other.ts" })).rejects.toMatchObject({
    reason: "other_campaign",
  });
});
