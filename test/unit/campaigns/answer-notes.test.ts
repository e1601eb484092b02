import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, it } from "vitest";
import { openLedger } from "../../../src/campaigns/index.ts";
import { numberOf, people, stageOf } from "./stage.ts";

const answersOf = ({ campaign }: Awaited<ReturnType<typeof stageOf>>) =>
  Array.from(campaign.results(), ({ answers }) => answers);

it("each answer is in the results at once, also when the call is left after one question", async () => {
  const stage = await stageOf();
  await stage.campaign.add(people(2));
  await stage.play();
  expect(await stage.hear(0, { answers: { visit: "1" }, digits: "1" })).toBe(true);
  expect(answersOf(stage)).toEqual([{ visit: "1" }, {}]);
  expect(openLedger(stage.database).results()[Symbol.iterator]().next().value).toMatchObject({
    answers: { visit: "1" },
  });
});

it("the same again changes nothing, and a later answer takes the place of an earlier one", async () => {
  const stage = await stageOf();
  await stage.campaign.add(people(1));
  await stage.play();
  for (const visit of ["1", "1", "2"]) await stage.hear(0, { answers: { visit } });
  await stage.hear(0, { answers: { visit: "2", price: "9" } });
  expect(answersOf(stage)).toEqual([{ visit: "2", price: "9" }]);
  const database = stage.database as DatabaseSync;
  const [{ n } = { n: 0 }] = database.prepare("select count(*) as n from outdial_answer").all();
  expect(n).toBe(2);
});

it("the names are in the order in which they came up, whoever gave them", async () => {
  const stage = await stageOf();
  await stage.campaign.add(people(2));
  await stage.play();
  await stage.hear(1, { answers: { visit: "1", again: "2" } });
  await stage.hear(0, { answers: { again: "1", visit: "2", price: "3" } });
  expect(stage.campaign.answerNames()).toEqual(["visit", "again", "price"]);
  expect(openLedger(stage.database).answerNames()).toEqual(["visit", "again", "price"]);
  expect(answersOf(stage).map((each) => Object.keys(each))).toEqual([
    ["visit", "again", "price"],
    ["visit", "again"],
  ]);
});

it("of several attempts the last answer to a question counts", async () => {
  const stage = await stageOf({ callBacks: 1 });
  await stage.campaign.add(people(1));
  await stage.play();
  await stage.hear(0, { answers: { visit: "1", price: "5" } });
  await stage.campaign.callBack(numberOf(0), new Date(stage.now + 60_000));
  await stage.tell(0, "call.completed", "normal");
  await stage.play(61_000);
  await stage.hear(1, { answers: { visit: "2" } });
  await stage.hear(0, { answers: { visit: "1", price: "5" } }); // delivered again
  expect(answersOf(stage)).toEqual([{ visit: "2", price: "5" }]);
});

it("an answer proves the call, before its POST has an answer", async () => {
  const stage = await stageOf();
  await stage.campaign.add(people(1));
  stage.answer = () => new Promise(() => {});
  await stage.campaign.step();
  await stage.hear(0, { answers: { visit: "1" } });
  const [result] = [...stage.campaign.results()];
  expect(result).toMatchObject({ call_id: "cs_0", answers: { visit: "1" } });
});

it("of another campaign nothing is noted", async () => {
  const [stage, other] = [await stageOf(), await stageOf()];
  await stage.campaign.add(people(1));
  await stage.play();
  const context = { campaign: other.campaign.id, contact: 1, attempt: 1 };
  const given = { call: { call_id: "cs_0" }, context, answers: { visit: "1" } };
  expect(await stage.campaign.note(given)).toBe(false);
  expect(answersOf(stage)).toEqual([{}]);
});

it.each([
  ["a name that is no column", { "Visit!": "1" }],
  ["a prototype", JSON.parse('{ "__proto__": "1" }')],
  ["a number", { visit: 1 }],
  ["a novel", { visit: "x".repeat(1_001) }],
])("%s is refused by its rule, and nothing is noted", async (_, answers) => {
  const stage = await stageOf();
  await stage.campaign.add(people(1));
  await stage.play();
  await expect(stage.hear(0, { answers })).rejects.toThrow("answers must");
  expect(answersOf(stage)).toEqual([{}]);
});

it("the variables of the list are in the results, and their names in the order of the list", async () => {
  const stage = await stageOf({ variables: ["name", "city"] });
  const [first, second] = people(2);
  await stage.campaign.add([
    { to_number: "", ...first, variables: { city: "Bonn" } },
    { to_number: "", ...second, variables: { name: "Ada", city: "Ulm", other: "x" } },
  ]);
  expect(Array.from(stage.campaign.results(), ({ variables }) => variables)).toEqual([
    { city: "Bonn" },
    { name: "Ada", city: "Ulm" },
  ]);
  expect(stage.campaign.variableNames()).toEqual(["city", "name"]);
});

it("who is erased has no answers, also none that come later, and no byte of one is left", async () => {
  const folder = mkdtempSync(join(tmpdir(), "answers-"));
  const file = join(folder, "people.outdial");
  const database = new DatabaseSync(file);
  const stage = await stageOf({}, database);
  await stage.campaign.add(people(1));
  await stage.play();
  await stage.hear(0, { answers: { visit: "4711471147114711" } });
  await stage.campaign.erase(numberOf(0));
  await stage.hear(0, { answers: { visit: "4711471147114711" } });
  expect(answersOf(stage)).toEqual([{}]);
  await stage.campaign.close();
  database.close();
  expect(readFileSync(file).includes("4711471147114711")).toBe(false);
  rmSync(folder, { recursive: true });
});

it("the outcome of an agent is the disposition of a machine, whatever the carrier heard, or else an answer", async () => {
  const cases = [
    ["message_left", "message_left", {}],
    ["machine", "machine", {}],
    ["transfer", "completed", { outcome: "transfer" }],
    [undefined, "completed", {}],
  ] as const;
  for (const [outcome, disposition, answers] of cases) {
    for (const isBefore of [true, false]) {
      const stage = await stageOf();
      await stage.campaign.add(people(1));
      await stage.play();
      const { context } = await stage.received(0, "call.completed");
      const end = () =>
        stage.tellMore(0, "call.completed", { reason: "normal", answered_by: "human" });
      if (isBefore) await end();
      // As `onEnd` of `connectAgent` gets it.
      expect(await stage.campaign.note({ context, ...(outcome && { outcome }) })).toBe(true);
      if (!isBefore) await end();
      const [result] = [...stage.campaign.results()];
      expect(result).toMatchObject({ disposition, answers });
    }
  }
  const stage = await stageOf();
  expect(await stage.campaign.note({ context: { campaign: "another" }, outcome: "x" })).toBe(false);
});
