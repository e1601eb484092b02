import { DatabaseSync } from "node:sqlite";
import { expect, it } from "vitest";
import { openLedger } from "../../../src/campaigns/index.ts";
import { numberOf, people, secret, stageOf } from "./stage.ts";

const reason = "asked to be called again";

const stageWith = async (options = {}) => {
  const database = new DatabaseSync(":memory:");
  const stage = await stageOf(options, database);
  return { stage, campaign: stage.campaign, ledger: openLedger(database, { secret }), database };
};

it("who is unblocked and was never called waits again, and the reason is in the ledger", async () => {
  const { stage, campaign, ledger } = await stageWith();
  await campaign.add(people(2));
  await campaign.block([numberOf(0), numberOf(1), numberOf(9)]);
  expect(await ledger.unblock([numberOf(0), numberOf(9), numberOf(7)], reason)).toBe(2);
  await stage.play();
  expect(stage.posts.map(({ to_number }) => to_number)).toEqual([numberOf(0)]);
  expect(campaign.progress()).toMatchObject({ blocked: 1, calling: 1 });
  const entries = [...campaign.audit()].filter(({ event }) => event === "unblocked");
  expect(entries).toMatchObject([{ contact: 1, detail: reason }, { detail: reason }]);
});

it("who was called before keeps the end, and nobody is called who left the list", async () => {
  const { stage, campaign, ledger } = await stageWith({ attempts: 2, retryDelay: 0 });
  await campaign.sync(people(2));
  await campaign.block(numberOf(1));
  await campaign.sync(people(1));
  await stage.play();
  await stage.tell(0, "call.failed", "busy");
  await campaign.block(numberOf(0));
  expect(await ledger.unblock([numberOf(0), numberOf(1)], reason)).toBe(2);
  await stage.play(60_000);
  expect(stage.posts).toHaveLength(1);
  expect(campaign.progress()).toMatchObject({ done: true, blocked: 1, canceled: 1 });
});

it("both spellings of a mobile are one, and it may be blocked again", async () => {
  const { campaign, ledger } = await stageWith();
  await campaign.add([{ to_number: "+5215512345678" }]);
  await campaign.block("+525512345678");
  expect(await ledger.unblock("+5215512345678", reason)).toBe(1);
  expect(campaign.progress()).toMatchObject({ waiting: 1 });
  expect(await campaign.block("+5215512345678")).toBe(1);
  expect(campaign.progress()).toMatchObject({ waiting: 0, blocked: 1 });
});

it("who was erased is not unblocked, nor anybody beside them, nor without the secret", async () => {
  const { campaign, ledger, database } = await stageWith();
  await campaign.add(people(2));
  await campaign.block(numberOf(0));
  await campaign.erase(numberOf(1));
  const both = [numberOf(0), numberOf(1)];
  await expect(ledger.unblock(both, reason)).rejects.toMatchObject({ reason: "erased" });
  const stranger = openLedger(database);
  await expect(stranger.unblock(numberOf(0), reason)).rejects.toMatchObject({
    reason: "missing_secret",
  });
  expect(campaign.progress()).toMatchObject({ waiting: 0, blocked: 2 });
  expect(await ledger.unblock(numberOf(0), reason)).toBe(1);
});

it.each(["", "two\nlines", "x".repeat(201), `by ${numberOf(0)}`])(
  "the reason %j is refused, and nobody is unblocked",
  async (wrong) => {
    const { campaign, ledger } = await stageWith();
    await campaign.add(people(1));
    await campaign.block(numberOf(0));
    await expect(ledger.unblock(numberOf(0), wrong)).rejects.toThrow("reason must be a line");
    await expect(ledger.unblock("12", reason)).rejects.toThrow("to_number must be");
    expect(campaign.progress()).toMatchObject({ blocked: 1 });
  },
);
