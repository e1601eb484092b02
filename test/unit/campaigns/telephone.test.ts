import { describe, expect, it } from "vitest";
import { telephoneOf } from "../../../src/campaigns/do-not-call.ts";
import { shardOf } from "../../../src/campaigns/workers/sharded.ts";
import { stageOf } from "./stage.ts";

const pairs = [
  ["+5215512345678", "+525512345678"],
  ["+5491123456789", "+541123456789"],
] as const;

const dialled = ({ posts }: { posts: readonly { to_number: string }[] }) =>
  posts.map(({ to_number }) => to_number);

it.each([
  ...["+521551234567", "+52155123456789", "+5211234567890", "+549112345678", "+12025550100"],
  ...["+5499123456789", "+54", "#1"],
])("%s has one spelling", (number) => {
  expect(telephoneOf(number)).toBe(number);
});

describe.each(pairs)("%s and %s are one mobile", (long, short) => {
  it.each([
    [long, short],
    [short, long],
  ])("of which %s is called, and %s is a duplicate", async (first, second) => {
    const stage = await stageOf();
    const added = await stage.campaign.add([{ to_number: first }, { to_number: second }]);
    expect(added).toMatchObject({ added: 1, duplicate: 1 });
    await stage.play();
    await stage.tell(0, "call.completed");
    expect(dialled(stage)).toEqual([first]);
    expect([...stage.campaign.results()].map(({ to_number }) => to_number)).toEqual([first]);
  });

  it.each([
    [long, short],
    [short, long],
  ])("of which %s was called: a list with %s calls nobody again", async (first, second) => {
    const stage = await stageOf();
    await stage.campaign.sync([{ to_number: first }]);
    await stage.play();
    await stage.tell(0, "call.completed");
    const plan = await stage.campaign.sync([{ to_number: second }, { to_number: first }]);
    expect(plan).toMatchObject({ listed: 1, duplicate: 1, added: 0, removed: 0 });
    await stage.play();
    expect(dialled(stage)).toEqual([first]);
  });

  it("that waits is called as the list writes it now", async () => {
    const stage = await stageOf();
    await stage.campaign.sync([{ to_number: long }]);
    expect(await stage.campaign.sync([{ to_number: short }])).toMatchObject({ changed: 1 });
    await stage.play();
    expect(dialled(stage)).toEqual([short]);
  });

  it("is blocked and erased by either", async () => {
    for (const [first, second] of [
      [long, short],
      [short, long],
    ] as const) {
      const blocked = await stageOf();
      await blocked.campaign.add([{ to_number: first }]);
      expect(await blocked.campaign.block(second)).toBe(1);
      await blocked.campaign.sync([{ to_number: first }], { doNotCall: [second] });
      const erased = await stageOf();
      await erased.campaign.add([{ to_number: first }]);
      expect(await erased.campaign.erase(second)).toBe(1);
      expect(await erased.campaign.add([{ to_number: first }])).toMatchObject({ added: 0 });
      for (const stage of [blocked, erased]) {
        await stage.play();
        expect(dialled(stage)).toEqual([]);
      }
      expect([...erased.campaign.results()][0]?.to_number).toBe("");
    }
  });

  it("has one shard, and a prefix is that of the list's spelling", async () => {
    expect(shardOf(long, 200)).toBe(shardOf(short, 200));
    const stage = await stageOf({ prefixes: [long.slice(0, 4)] });
    await stage.campaign.add([{ to_number: long }]);
    await stage.play();
    expect(dialled(stage)).toEqual([long]);
  });
});
