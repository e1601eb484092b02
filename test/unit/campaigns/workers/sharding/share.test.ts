import { expect, it } from "vitest";
import type { CampaignPlan } from "../../../../../src/campaigns/workers/index.ts";
import { sharesOf } from "../../../../../src/campaigns/workers/sharding/share.ts";
import { BadParametersException } from "../../../../../src/errors.ts";

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

it("an end that is no date is passed on as none, so that the ledger refuses it", () => {
  const [share] = sharesOf({ ...plan, until: new Date("soon") }, "id", 1);
  expect(new Date(share?.until ?? "").getTime()).toBeNaN();
});
