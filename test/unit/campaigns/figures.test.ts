import { afterEach, expect, it, vi } from "vitest";
import { openLedger } from "../../../src/campaigns/index.ts";
import { objectsOf } from "./objects.ts";
import { noon, numberOf, people, stageOf } from "./stage.ts";

afterEach(() => {
  vi.restoreAllMocks();
});

const minute = 60_000;

it("figures count calls, people and machines by the quarter of an hour, whatever followed on them", async () => {
  const retryOn = { machine: { after: 30 * minute }, busy: { after: 30 * minute } };
  const stage = await stageOf({ retryOn });
  const { campaign, database, play, tell, tellMore } = stage;
  await campaign.add(people(6));
  await play();
  await tellMore(0, "call.completed", { duration: 7 });
  await tellMore(1, "call.completed", { duration: 7, answered_by: "machine_start" });
  await tell(2, "call.failed", "busy");
  await tell(3, "call.completed");
  await tellMore(4, "call.completed", { answered_by: "fax" });
  // The sixth is live.
  await play(35 * minute);
  const { figures } = openLedger(database);
  expect(figures().quarters).toEqual([
    { at: noon, calls: 6, people: 2, machines: 2 },
    { at: noon + 30 * minute, calls: 3, people: 0, machines: 0 },
  ]);
  expect(figures({ from: noon + minute }).quarters).toHaveLength(1);
  expect(figures().attempts).toEqual([3, 3]);
});

it("figures count no call of which nothing is known, such as one that a kill stopped before its POST", async () => {
  const killed = await stageOf();
  killed.answer = (params) =>
    params.to_number === numberOf(0) ? { id: "cs_0" } : new Promise(() => {});
  await killed.campaign.add(people(4));
  for (; killed.posts.length < 4; killed.now += 10) await killed.campaign.step();
  const stage = await killed.reopen();
  const { figures } = openLedger(stage.database);
  const calls = (): number => figures().quarters.reduce((total, each) => total + each.calls, 0);
  expect([calls(), figures().attempts]).toEqual([1, [1]]);
  // Something becomes known of one by its notification, of another by its flow, and of the last one nothing.
  await stage.campaign.note(await killed.received(1, "call.initiated"));
  await stage.campaign.note(await killed.received(2, "call.answered"));
  await stage.play(10_000_000);
  expect(stage.campaign.progress()).toMatchObject({ done: true, unknown: 4 });
  expect([calls(), figures().attempts]).toEqual([3, [3]]);
});

it("figures count a call that may have been placed by what its POST brought", async () => {
  const stage = await stageOf();
  stage.answer = () => Promise.reject(new Error("the answer was lost"));
  await stage.campaign.add(people(1));
  await stage.play(10_000_000);
  expect(openLedger(stage.database).figures()).toMatchObject({
    quarters: [{ calls: 1 }],
    attempts: [1],
  });
});

it("figures count the answers to each question, of a contact with several the last", async () => {
  const { campaign, database, play, tell, hear } = await stageOf();
  await campaign.add(people(4));
  await play();
  for (const [post, visit] of ["1", "1", "2"].entries()) await hear(post, { answers: { visit } });
  await hear(3, { answers: { price: "5" } });
  expect(openLedger(database).figures().answers).toEqual([
    {
      name: "visit",
      contacts: 3,
      values: [
        { value: "1", contacts: 2 },
        { value: "2", contacts: 1 },
      ],
    },
    { name: "price", contacts: 1, values: [{ value: "5", contacts: 1 }] },
  ]);
  await tell(0, "call.completed");
  await campaign.callBack(people(1)[0]?.to_number ?? "", new Date(noon + minute));
  await play(2 * minute);
  await hear(4, { answers: { visit: "2" } });
  expect(openLedger(database).figures().answers[0]).toMatchObject({
    contacts: 3,
    values: [{ value: "2", contacts: 2 }, { value: "1" }],
  });
});

it("figures count who waits for a time that was agreed on, and say when the first is", async () => {
  const { campaign, database, play } = await stageOf();
  const [first, second, third] = people(3);
  const call_at = new Date(noon + 5 * minute);
  await campaign.add(
    [{ ...first, call_at }, { ...second, call_at: new Date(noon + minute) }, { ...third }].map(
      (each) => ({ to_number: "", ...each }),
    ),
  );
  await play();
  const { figures } = openLedger(database);
  expect(figures().callBacks).toEqual({ waiting: 2, next: noon + minute });
  await play(6 * minute);
  expect(figures().callBacks).toEqual({ waiting: 0 });
});

it("the figures of all shards are those of one campaign", async () => {
  const [one, many] = [await objectsOf(), await objectsOf({}, { shards: 4 })];
  const figures = [];
  for (const { campaign, posts, play, tell, hear } of [one, many]) {
    await campaign.add(people(20));
    await campaign.resume();
    await play();
    const order = posts.map((_, post) => post);
    order.sort((first, second) =>
      (posts[first]?.to_number ?? "") < (posts[second]?.to_number ?? "") ? -1 : 1,
    );
    for (const [index, post] of order.entries()) {
      if (index === 7) await hear(post, { answers: { price: "9" } });
      await hear(post, { answers: { visit: String(index % 3) } });
      await tell(post, "call.completed", {
        duration: 1,
        answered_by: index % 4 ? "human" : "machine_start",
      });
    }
    const at = new Date(Date.now() + 5 * minute);
    for (const index of [3, 9]) await campaign.callBack(people(20)[index]?.to_number ?? "", at);
    const { quarters, callBacks, ...rest } = await campaign.figures();
    const calls = quarters.reduce((total, each) => total + each.calls, 0);
    const heard = quarters.reduce((total, each) => total + each.people, 0);
    expect(callBacks.next).toBe(at.getTime());
    figures.push({ ...rest, calls, heard, waiting: callBacks.waiting });
    expect((await campaign.figures({ from: Date.now() + minute })).quarters).toEqual([]);
  }
  expect(figures[0]).toMatchObject({ calls: 20, waiting: 2, attempts: [20] });
  expect(figures[0]?.answers.map(({ name, contacts }) => [name, contacts])).toEqual([
    ["visit", 20],
    ["price", 1],
  ]);
  expect(figures[1]).toEqual(figures[0]);
});
