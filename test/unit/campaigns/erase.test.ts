import { DatabaseSync } from "node:sqlite";
import { describe, expect, it } from "vitest";
import { openLedger } from "../../../src/campaigns/index.ts";
import { BadParametersException, ServiceException } from "../../../src/errors.ts";
import { numberOf, people, secret, stageOf } from "./stage.ts";

const dialled = ({ posts }: { posts: readonly { to_number: string }[] }) =>
  posts.map(({ to_number }) => to_number);

describe("who is erased", () => {
  it("isn't called, also when they are being added at that moment", async () => {
    const stage = await stageOf();
    const list = async function* () {
      yield* people(2);
      await stage.campaign.erase([numberOf(0), numberOf(2)]);
      yield* people(4).slice(2);
    };
    const reason = "to_number was erased";
    expect(await stage.campaign.add(list())).toEqual({
      added: 2,
      duplicate: 0,
      refused: [
        { line: 1, reason },
        { line: 3, reason },
      ],
    });
    await stage.play();
    expect(dialled(stage)).toEqual([numberOf(1), numberOf(3)]);
    expect(Array.from(stage.campaign.results())).toHaveLength(2);
  });

  it.each([429, 403])("isn't called again after a %d to their POST", async (code) => {
    const stage = await stageOf();
    await stage.campaign.add(people(1));
    let refuse = (): void => {};
    stage.answer = () =>
      new Promise((_, reject) => {
        refuse = () => reject(new ServiceException(`HTTP ${code}`, { placed: "no", code }));
      });
    await stage.campaign.step();
    expect(await stage.campaign.erase(numberOf(0))).toBe(1);
    refuse();
    await stage.campaign.idle();
    stage.campaign.resume();
    await stage.play(3_600_000);
    expect(dialled(stage)).toEqual([numberOf(0)]);
    expect(stage.campaign.progress()).toMatchObject({ blocked: 1, done: true });
  });

  it("leaves no id of a call that is answered later", async () => {
    const stage = await stageOf();
    await stage.campaign.add(people(1));
    let accept = (): void => {};
    stage.answer = () =>
      new Promise((resolve) => {
        accept = () => resolve({ id: "cs_of_theirs" });
      });
    await stage.campaign.step();
    await stage.campaign.erase(numberOf(0));
    accept();
    await stage.campaign.idle();
    await stage.tell(0, "call.failed", "busy");
    expect(JSON.stringify([...stage.campaign.results(), ...stage.campaign.audit()])).not.toContain(
      "cs_",
    );
    expect(stage.campaign.progress()).toMatchObject({ busy: 1, done: true });
  });

  it("leaves no word that the service says of them later", async () => {
    const stage = await stageOf();
    await stage.campaign.add(people(2));
    await stage.play();
    await stage.campaign.erase(people(2).map(({ to_number }) => to_number));
    await stage.tell(0, "call.failed", "callee Jane Doe");
    const reported = [...stage.campaign.results(), ...stage.campaign.audit()];
    expect(JSON.stringify(reported)).not.toContain("Jane");
    expect(stage.campaign.progress()).toMatchObject({ unreachable: 1 });
  });

  it("is refused in the plan of a list, and not written by its do-not-call numbers", async () => {
    const database = new DatabaseSync(":memory:");
    const stage = await stageOf({}, database);
    await stage.campaign.erase(numberOf(0));
    const doNotCall = [numberOf(0), numberOf(5)];
    expect(await stage.campaign.sync(people(2), { doNotCall })).toMatchObject({
      added: 1,
      listed: 1,
      refused: [{ line: 1, reason: "to_number was erased" }],
    });
    const blocked = database.prepare("select to_number from outdial_blocked").all();
    expect(blocked.map(({ to_number }) => String(to_number).slice(0, 12)).sort()).toEqual([
      expect.stringMatching(/^#/),
      numberOf(5),
    ]);
  });

  it("is not written again by a block, of the campaign or of a ledger with its secret", async () => {
    const database = new DatabaseSync(":memory:");
    const stage = await stageOf({}, database);
    await stage.campaign.add(people(1));
    await stage.campaign.erase(numberOf(0));
    expect(await stage.campaign.block([numberOf(0), numberOf(5)])).toBe(1);
    expect(await openLedger(database, { secret }).block([numberOf(0), numberOf(6)])).toBe(1);
    const listed = database.prepare("select to_number from outdial_blocked order by 1").all();
    const mark = expect.stringMatching(/^#[0-9a-f]{64}$/);
    expect(listed.map(({ to_number }) => to_number)).toEqual([mark, numberOf(5), numberOf(6)]);
    expect(await openLedger(database).block(numberOf(0))).toBe(1);
  });

  it("is not written by a list whose plan was confirmed after they were erased", async () => {
    const database = new DatabaseSync(":memory:");
    const stage = await stageOf({}, database);
    const confirm = async () => (await stage.campaign.erase(numberOf(5))) === 0;
    await stage.campaign.sync(people(1), { doNotCall: numberOf(5), confirm });
    const listed = database.prepare("select to_number from outdial_blocked").all();
    expect(listed).toEqual([{ to_number: expect.stringMatching(/^#/) }]);
  });

  it("leaves no number in what the service said of them", async () => {
    const stage = await stageOf();
    await stage.campaign.add(people(1));
    await stage.play();
    await stage.tell(0, "call.failed", `${numberOf(0)} has\u001b[2J hung up ${"x".repeat(999)}`);
    const [result] = stage.campaign.results();
    expect(result?.reason).toMatch(/^\*\*\* has \[2J hung up x+$/);
    expect(result?.reason?.length).toBeLessThanOrEqual(200);
    expect(JSON.stringify([...stage.campaign.audit()])).not.toContain(numberOf(0));
  });

  it("may be erased again", async () => {
    const stage = await stageOf();
    expect(await stage.campaign.erase(numberOf(0))).toBe(0);
    expect(await stage.campaign.erase(numberOf(0))).toBe(0);
    expect((await stage.campaign.add(people(1))).refused).toHaveLength(1);
  });
});

describe("a ledger from which somebody was erased", () => {
  const newer = "another that was made at random";

  it("is refused without the secret under which that was, and forgets nobody with both", async () => {
    const stage = await stageOf();
    await stage.campaign.erase(numberOf(0));
    await expect(stage.reopen({ secret: newer })).rejects.toMatchObject({
      name: "LedgerException",
      reason: "missing_secret",
    });
    const both = await stage.reopen({ secret: [newer, secret] });
    expect(await both.campaign.add(people(2))).toMatchObject({ added: 1, refused: [{ line: 1 }] });
    await both.play();
    expect(dialled(both)).toEqual([numberOf(1)]);
  });

  it("needs each of the secrets, however many people were erased under them", async () => {
    const stage = await stageOf();
    await stage.campaign.erase([numberOf(0), numberOf(1)]);
    const second = await stage.reopen({ secret: [newer, secret] });
    await second.campaign.erase([numberOf(2), numberOf(0)]);
    for (const one of [newer, secret, [newer], ["a third that was made at random", secret]]) {
      await expect(stage.reopen({ secret: one })).rejects.toMatchObject({
        reason: "missing_secret",
      });
    }
    const all = await stage.reopen({ secret: [secret, "a third that was made at random", newer] });
    expect((await all.campaign.add(people(4))).added).toBe(1);
  });

  it("can be opened with another secret where a list was erased under none", async () => {
    const stage = await stageOf();
    await stage.campaign.erase([]);
    expect((await (await stage.reopen({ secret: newer })).campaign.add(people(1))).added).toBe(1);
  });

  it("is not written to by a block with another secret", async () => {
    const stage = await stageOf();
    await stage.campaign.erase(numberOf(0));
    const ledger = openLedger(stage.database, { secret: newer });
    await expect(ledger.block([numberOf(0), numberOf(1)])).rejects.toMatchObject({
      reason: "missing_secret",
    });
    expect(ledger.progress()).toMatchObject({ contacts: 0 });
    const both = openLedger(stage.database, { secret: [newer, secret] });
    expect(await both.block([numberOf(0), numberOf(1)])).toBe(1);
  });

  it("has no secret in it", async () => {
    const stage = await stageOf();
    await stage.campaign.erase(numberOf(0));
    const tables = ["outdial_fact", "outdial_blocked", "outdial_erasure_secret"];
    const database = stage.database as DatabaseSync;
    const rows = tables.flatMap((table) => database.prepare(`select * from ${table}`).all());
    expect(JSON.stringify(rows)).not.toContain(secret);
  });
});

it("a list with a mistake in it erases nobody", async () => {
  const { campaign } = await stageOf();
  await campaign.add(people(1));
  await expect(campaign.erase([numberOf(0), "nobody"])).rejects.toThrow(BadParametersException);
  expect(campaign.progress()).toMatchObject({ waiting: 1 });
});
