import { expect, it } from "vitest";
import type { Contact } from "../../../src/campaigns/index.ts";
import { sharesOf } from "../../../src/campaigns/workers/create.ts";
import type { CampaignPlan } from "../../../src/campaigns/workers/index.ts";
import { addTo, merged, shardOf, sumOf } from "../../../src/campaigns/workers/sharded.ts";
import { BadParametersException } from "../../../src/errors.ts";
import { people, stageOf } from "./stage.ts";

it("a telephone has the same shard for ever: another one would not know its claims", () => {
  const numbers = ["+12025550100", "+12025550101", "+4930123456", "+447700900123"];
  expect(numbers.map((number) => shardOf(number, 4))).toEqual([3, 0, 1, 1]);
  expect(numbers.map((number) => shardOf(number, 256))).toEqual([131, 240, 149, 205]);
  expect(numbers.map((number) => shardOf(number, 1))).toEqual([0, 0, 0, 0]);
});

it("numbers that follow one another are spread evenly", () => {
  const counts = Array.from({ length: 8 }, () => 0);
  for (let last = 0; last < 80_000; last++) {
    const shard = shardOf(`+1202${5_550_000 + last}`, 8);
    counts[shard] = (counts[shard] ?? 0) + 1;
  }
  for (const count of counts) expect(Math.abs(count - 10_000)).toBeLessThan(500);
});

const plan: CampaignPlan = {
  from_number: "+12025550199",
  flow_url: "https://app.test/flow",
  status_callback_url: "https://app.test/status?tenant=7",
  window: "always",
};

const sum = (values: readonly unknown[]) =>
  values.reduce<number>((total, value) => total + Number(value), 0);

it.each([
  [7, 20, 40, 4],
  [10.5, 11, 23, 8],
  [256, 1_000, 5_000, 256],
  [1, 1, 1, 1],
  [0.5, 3, 2, 1],
])(
  "rate %d, concurrency %d and %d a day are shared out among shards, and add up to themselves",
  (rate, concurrency, perDay, shards) => {
    const shares = sharesOf({ ...plan, rate, concurrency, perDay }, "id", shards);
    expect(shares).toHaveLength(shards);
    expect(sum(shares.map((share) => share.rate))).toBe(rate);
    expect(sum(shares.map((share) => share.concurrency))).toBe(concurrency);
    expect(sum(shares.map((share) => share.perDay))).toBe(perDay);
    // Calls of any one second, which is what a pace bounds: never more than for the whole.
    const inOneSecond = sum(shares.map((share) => Math.ceil(Number(share.rate))));
    expect(inOneSecond).toBe(Math.ceil(rate));
  },
);

it("notifications go to the shard's own path, with the query as it was", () => {
  const [first, second] = sharesOf({ ...plan, rate: 2 }, "2-ab", 2);
  expect(first?.status_callback_url).toBe("https://app.test/status/2-ab/0?tenant=7");
  expect(second?.status_callback_url).toBe("https://app.test/status/2-ab/1?tenant=7");
});

it("more shards than calls a second, slots or calls a day are refused: none can have less than one", () => {
  const params = (more: Partial<CampaignPlan>) => {
    try {
      return sharesOf({ ...plan, rate: 4, concurrency: 4, ...more }, "id", 4).length;
    } catch (error) {
      if (!(error instanceof BadParametersException)) throw error;
      return error.issues.map(({ param }) => param);
    }
  };
  expect(params({})).toBe(4);
  expect(params({ rate: 3.9 })).toEqual(["rate"]);
  expect(params({ concurrency: 3, perDay: 2 })).toEqual(["concurrency", "perDay"]);
});

it.each(["1000", ["1000"], true])("a rate, slots or calls a day of %j are none", (value) => {
  for (const shards of [1, 4]) {
    for (const name of ["rate", "concurrency", "perDay"]) {
      const strange = Object({ ...plan, rate: 4, [name]: value });
      expect(() => sharesOf(strange, "id", shards)).toThrow(`${name} must be a number`);
    }
  }
});

it.each([1, "2026-12-24", 1_798_000_000_000])(
  "an end such as %j is refused by its name",
  (until) => {
    expect(() => sharesOf(Object({ ...plan, until }), "id", 1)).toThrow("until must be a date");
  },
);

it("an end that is no date is passed on as none, so that the ledger refuses it", () => {
  const [share] = sharesOf({ ...plan, until: new Date("soon") }, "id", 1);
  expect(new Date(share?.until ?? "").getTime()).toBeNaN();
});

it("what came before the list broke is sent to its shards", async () => {
  const sent: Contact[] = [];
  const list = function* () {
    yield* people(2_500);
    throw new Error("the upload was cut");
  };
  const adding = addTo(list(), 2, async (_, page) => {
    sent.push(...page);
    return { added: page.length, duplicate: 0, refused: [] };
  });
  await expect(adding).rejects.toThrow("was cut");
  expect(sent).toHaveLength(2_500);
});

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
  const counts = merged(histories).map((one) => [one.at, one.completed]);
  expect(counts).toEqual([
    [5, 1],
    [10, 11],
    [15, 12],
    [20, 32],
  ]);
});
