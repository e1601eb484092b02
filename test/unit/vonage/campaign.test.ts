import { parse } from "valibot";
import { expect, test } from "vitest";
import { CallEvent } from "../../../src/callbacks/event.ts";
import { verifyUrl } from "../../../src/callbacks/signed-url.ts";
import { applicationSide } from "../../../src/carriers/vonage/application.ts";
import { people, type Stage, secret, stageOf } from "../campaigns/stage.ts";
import { applicationId } from "./service.ts";

const application = applicationSide({ applicationId });

/** A campaign has placed its first call, and calls once more after a minute. */
const placed = async (): Promise<Stage> => {
  const stage = await stageOf({ attempts: 2, retryDelay: 60_000 });
  await stage.campaign.add(people(1));
  await stage.play();
  return stage;
};

/** What Vonage posts about a call of the campaign arrives. */
const note = async ({ campaign, posts }: Stage, call: number, fields: object) => {
  const context = await verifyUrl(posts[call]?.status_callback_url ?? "", { secret });
  const body = { uuid: `cs_${call}`, from: "12025550199", to: "12025550000", ...fields };
  const event = parse(CallEvent, application.decodeEvent(JSON.stringify(body)));
  return campaign.note({ context, event });
};

const neverAnswered = { status: "completed", start_time: null, duration: "0" };
const talked = { status: "completed", start_time: "2026-06-03T10:00:07.000Z", duration: "42" };

test("completed after busy doesn't end a contact that waits for its next call", async () => {
  const stage = await placed();
  await note(stage, 0, { status: "busy" });
  await note(stage, 0, neverAnswered);
  expect(stage.campaign.progress()).toMatchObject({ waiting: 1, done: false });
  await stage.play(120_000);
  expect(stage.posts).toHaveLength(2);
  await note(stage, 1, talked);
  await note(stage, 1, neverAnswered);
  expect(stage.campaign.progress()).toMatchObject({ completed: 1, done: true });
});

test("completed before busy is busy: the contact is called again", async () => {
  const stage = await placed();
  await note(stage, 0, neverAnswered);
  await note(stage, 0, { status: "busy" });
  await stage.play(120_000);
  expect(stage.posts).toHaveLength(2);
  await note(stage, 1, talked);
  expect(stage.campaign.progress()).toMatchObject({ completed: 1, done: true });
});

test.each(["before", "after"])(
  "an error of the NCCO that comes %s the end ends the contact as flow_error, with its reason",
  async (when) => {
    const stage = await placed();
    const reason = "Syntax error in NCCO. Invalid value type or action.";
    const error = { reason, uuid: undefined, from: undefined, to: undefined };
    const noteError = () => note(stage, 0, { ...error, conversation_uuid: "CON-1" });
    if (when === "before") await noteError();
    await note(stage, 0, talked);
    if (when === "after") await noteError();
    await noteError();
    expect(stage.campaign.progress()).toMatchObject({ flow_error: 1, completed: 0, done: true });
    expect([...stage.campaign.results()]).toMatchObject([{ disposition: "flow_error", reason }]);
  },
);

test("who was talked to isn't called again, whatever becomes of the leg of a stream", async () => {
  const stage = await placed();
  const leg = { uuid: "leg", to: "wss://app.test/media" };
  await note(stage, 0, { ...leg, status: "failed" });
  expect(stage.campaign.progress()).toMatchObject({ calling: 1, done: false });
  await note(stage, 0, talked);
  await note(stage, 0, { ...leg, status: "busy" });
  await stage.play(120_000);
  expect(stage.posts).toHaveLength(1);
  expect(stage.campaign.progress()).toMatchObject({ completed: 1, done: true });
});
