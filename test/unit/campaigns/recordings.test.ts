import { DatabaseSync } from "node:sqlite";
import { parse } from "valibot";
import { expect, test } from "vitest";
import { CallEvent } from "../../../src/callbacks/event.ts";
import { verifyUrl } from "../../../src/callbacks/signed-url.ts";
import { openLedger } from "../../../src/campaigns/index.ts";
import { recordingFiles } from "../../../src/campaigns/recordings.ts";
import { noon, numberOf, people, secret, stageOf } from "./stage.ts";

const recording_url = "https://storage.test/r.wav?signature=MARKED-signature";

/** A list whose first contact was called. */
const called = async (database = new DatabaseSync(":memory:")) => {
  const stage = await stageOf({}, database);
  await stage.campaign.add(people(2));
  await stage.play();
  const { flow_url = "" } = stage.posts[0] ?? {};
  const context = await verifyUrl(flow_url, { secret });
  const note = (recording_id: string, as?: string) =>
    stage.campaign.note({ call_id: "cs_0", recording_id, recording_url, as, context });
  return { ...stage, campaign: stage.campaign, database, context, note };
};

const bytesOf = (database: DatabaseSync): string =>
  database
    .prepare("select name from sqlite_master where type = 'table'")
    .all()
    .map(({ name }) => JSON.stringify(database.prepare(`select * from ${name}`).all()))
    .join("\n");

test("a list keeps the recording's id, its name and the time, once, and never its URL", async () => {
  const { campaign, database, note } = await called();
  expect([await note("RE1", "why"), await note("RE1", "why"), await note("RE2")]).toEqual([
    ...[true, true, true],
  ]);
  const [first, second] = campaign.results();
  const at = expect.any(Number);
  expect(first?.recordings).toEqual([
    { contact: 1, attempt: 1, recording_id: "RE1", as: "why", at },
    { contact: 1, attempt: 1, recording_id: "RE2", at },
  ]);
  expect(first?.recordings[0]?.at).toBeGreaterThanOrEqual(noon);
  expect(second?.recordings).toEqual([]);
  expect(bytesOf(database)).not.toMatch(/storage\.test|MARKED/);
});

test("the name of a recording is among those of answers, once, in the order in which they came up", async () => {
  const { campaign, database, note, context } = await called();
  await campaign.note({ call: { call_id: "cs_0" }, context, answers: { visit: "1" } } as never);
  await note("RE1", "why");
  await note("RE2", "why");
  await note("RE3");
  expect(campaign.answerNames()).toEqual(["visit", "why"]);
  expect(openLedger(database).answerNames()).toEqual(["visit", "why"]);
});

test("the notification of outdial's own interface is kept as well, and is no news of the call", async () => {
  const { campaign, context } = await called();
  const data = { recording_id: "rec_1", recording_url, as: "why", duration: 3 };
  const event = parse(CallEvent, { type: "recording.completed", call_id: "cs_0", data });
  expect(await campaign.note({ context, event })).toBe(true);
  const [{ recordings, disposition } = {}] = campaign.results();
  expect(recordings).toMatchObject([{ recording_id: "rec_1", as: "why" }]);
  expect(disposition).toBeUndefined();
});

test("of another campaign, an unknown attempt or an erased contact none is kept, and a strange id is refused", async () => {
  const { campaign, context, note } = await called();
  const input = { call_id: "cs_0", recording_id: "RE1", recording_url };
  expect(await campaign.note({ ...input, context: { ...context, campaign: "other" } })).toBe(false);
  expect(await campaign.note({ ...input, context: { ...context, attempt: 7 } })).toBe(false);
  await expect(note("../../etc/passwd")).rejects.toThrow("recording_id must be an id");
  await expect(note("x".repeat(201))).rejects.toThrow("recording_id must be an id");
  await note("RE9", "why");
  await campaign.erase(numberOf(0));
  expect(await note("RE1")).toBe(false);
  expect([...campaign.results()].flatMap(({ recordings }) => recordings)).toEqual([]);
});

test("the ids of a number's recordings are known until it is erased, and folders are noted", async () => {
  const { database, note } = await called();
  await note("RE1", "why");
  const files = recordingFiles(database);
  files.keepFolder("/recordings");
  files.keepFolder("/recordings");
  expect(recordingFiles(database).folders).toEqual(["/recordings"]);
  expect(files.of([numberOf(0), numberOf(1)])).toMatchObject([{ recording_id: "RE1" }]);
  const erased = files.erased();
  expect(erased()).toEqual([]);
  // One that comes before the contact is erased.
  await note("RE2", "why");
  await openLedger(database, { secret }).erase(numberOf(0));
  expect(files.of([numberOf(0)])).toEqual([]);
  expect(erased()).toMatchObject([{ recording_id: "RE1", as: "why" }, { recording_id: "RE2" }]);
});
