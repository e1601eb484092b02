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
    const told = [...stage.campaign.results(), ...stage.campaign.audit()];
    expect(JSON.stringify(told)).not.toContain("Jane");
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

  it("may be erased again, also by another secret", async () => {
    const database = new DatabaseSync(":memory:");
    const stage = await stageOf({}, database);
    expect(await stage.campaign.erase(numberOf(0))).toBe(0);
    expect(await stage.campaign.erase(numberOf(0))).toBe(0);
    const other = await stage.reopen({ secret: "another that was made at random" });
    expect(await other.campaign.add(people(1))).toMatchObject({ added: 1 });
    const first = await stage.reopen();
    expect(await first.campaign.erase(numberOf(0))).toBe(1);
  });
});

it("a list with a mistake in it erases nobody", async () => {
  const { campaign } = await stageOf();
  await campaign.add(people(1));
  await expect(campaign.erase([numberOf(0), "nobody"])).rejects.toThrow(BadParametersException);
  expect(campaign.progress()).toMatchObject({ waiting: 1 });
});
