import { readFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { parse } from "valibot";
import { expect, it } from "vitest";
import { CallEvent } from "../../../src/callbacks/event.ts";
import { type Campaign, openLedger } from "../../../src/campaigns/index.ts";
import { objectsOf } from "./objects.ts";
import { people, stageOf } from "./stage.ts";

const costsOf = (campaign: Campaign) =>
  [...campaign.results()].map(({ cost, currency }) => [cost, currency]);

it("a result has the cost of its last call as the text that was reported, and its currency where it is named", async () => {
  const { campaign, play, tellMore } = await stageOf({ attempts: 2, retryDelay: 1 });
  await campaign.add(people(4));
  await play();
  await tellMore(0, "call.completed", { cost: "0.00834000" });
  await tellMore(1, "call.completed", { cost: "-0.00750", currency: "USD" });
  await tellMore(2, "call.completed", { duration: 3 });
  await tellMore(3, "call.failed", { reason: "busy", cost: "0.1" });
  await play();
  await tellMore(4, "call.completed", { cost: "0.2" });
  expect(costsOf(campaign)).toEqual([
    ["0.00834000", undefined],
    ["-0.00750", "USD"],
    [undefined, undefined],
    ["0.2", undefined],
  ]);
});

it("a cost that comes with a later notification is kept, and one without it takes none away", async () => {
  const { campaign, play, tellMore, tell } = await stageOf();
  await campaign.add(people(1));
  await play();
  await tell(0, "call.completed");
  await tellMore(0, "call.completed", { cost: "0.01" });
  await tell(0, "call.completed");
  expect(costsOf(campaign)).toEqual([["0.01", undefined]]);
});

it("what is no amount is no cost, and what is no currency names none", async () => {
  const wrong = ["", "=1+1", "1e3", "0.1 EUR", ".5", "9".repeat(40), "NaN"];
  const { campaign, play, tellMore } = await stageOf();
  await campaign.add(people(wrong.length + 1));
  await play();
  for (const [post, cost] of wrong.entries()) await tellMore(post, "call.completed", { cost });
  await tellMore(wrong.length, "call.completed", { cost: "1", currency: "=A1" });
  expect(costsOf(campaign)).toEqual([...wrong.map(() => [undefined, undefined]), ["1", undefined]]);
});

it("a call that was asked for has the cost of the answer, whether it was answered or not", async () => {
  const { campaign, play } = await stageOf({
    get: async (id) => ({
      state: id === "cs_0" ? "completed" : "failed",
      cost: "-0.00750",
      currency: "USD",
    }),
  });
  await campaign.add(people(2));
  await play(93_000);
  expect(costsOf(campaign)).toEqual([
    ["-0.00750", "USD"],
    ["-0.00750", "USD"],
  ]);
});

it("figures have a sum for each currency, of all attempts, and none where nothing was reported", async () => {
  const stage = await stageOf({ attempts: 2, retryDelay: 1 });
  const { campaign, database, play, tellMore } = stage;
  await campaign.add(people(4));
  await play();
  const { figures } = openLedger(database);
  expect(figures().costs).toEqual([]);
  await tellMore(0, "call.completed", { cost: "0.1" });
  await tellMore(1, "call.completed", { cost: "-0.00750", currency: "USD" });
  await tellMore(2, "call.completed", {});
  await tellMore(3, "call.failed", { reason: "busy", cost: "0.2" });
  await play();
  await tellMore(4, "call.completed", { cost: "0.00000001" });
  expect(figures().costs).toEqual([
    { sum: 0.300_000_01, calls: 3 },
    { currency: "USD", sum: -0.0075, calls: 1 },
  ]);
});

it("on Durable Objects results and figures have the same", async () => {
  const { campaign, play, tell } = await objectsOf({}, { shards: 4 });
  await campaign.add(people(8));
  await campaign.resume();
  await play();
  for (let post = 0; post < 8; post++) {
    const data = post % 2 ? { cost: "0.1" } : { cost: "0.2", currency: "USD" };
    await tell(post, "call.completed", data);
  }
  const costs: string[] = [];
  for await (const { cost, currency } of campaign.results()) costs.push(`${cost} ${currency}`);
  expect(costs.sort()).toEqual([
    ...Array.from({ length: 4 }, () => "0.1 undefined"),
    ...Array.from({ length: 4 }, () => "0.2 USD"),
  ]);
  expect((await campaign.figures()).costs).toEqual([
    { sum: 0.4, calls: 4 },
    { currency: "USD", sum: 0.8, calls: 4 },
  ]);
});

it("a ledger of version 5 gets the columns, and goes on", async () => {
  const database = new DatabaseSync(":memory:");
  const sql = readFileSync(new URL("ledgers/ledger-5-closed.sql", import.meta.url), "utf8");
  database.exec(sql);
  expect([...openLedger(database).results()]).toHaveLength(8);
  const { campaign } = await stageOf({}, database);
  const context = { campaign: campaign.id, contact: 6, attempt: 1 };
  const event = { type: "call.completed", call_id: "cs_5", data: { cost: "0.1" } };
  await campaign.note({ context, event: parse(CallEvent, event) });
  expect(costsOf(campaign)[5]).toEqual(["0.1", undefined]);
});
