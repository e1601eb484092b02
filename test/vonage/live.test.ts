import { NCCOActions, type Voice } from "@vonage/voice";
import { expect, it } from "vitest";
import type { CalleeAct } from "../../src/emulator/index.ts";
import { wav } from "../carriers/callee.ts";
import { callOf, place, startApplication, startVonage, to } from "./stage.ts";

/** The client wants it in the body. */
const action = NCCOActions.TALK;

type Operation = (live: { client: Voice; uuid: string; origin: string }) => Promise<unknown>;

/** A call of ten seconds; operations happen so many seconds after the answer, each as soon as the one before is done. */
const operated = async (
  operations: readonly (readonly [seconds: number, operation: Operation])[],
  callee: CalleeAct[] = [{ type: "tone", hertz: 300, ms: 10_000 }],
) => {
  const times = operations.map(([seconds]) => seconds);
  const ncco = times.flatMap((seconds, at) => [
    ...(seconds > (times[at - 1] ?? 0)
      ? [{ action: "wait", timeout: seconds - (times[at - 1] ?? 0) }]
      : []),
    { action: "notify", payload: {}, eventUrl: [`/now${at}`] },
  ]);
  const results: unknown[] = [];
  let live: Parameters<Operation>[0] | undefined;
  const handlers = operations.map(([, operation], at) => [
    `/now${at}`,
    async (_: unknown, response: { writeHead: (status: number) => { end: () => void } }) => {
      results.push(live && (await operation(live).catch((error) => error.message)));
      response.writeHead(204).end();
    },
  ]);
  const application = await startApplication({
    "/answer": [...ncco, { action: "wait", timeout: 10 - (times.at(-1) ?? 0) }],
    ...Object.fromEntries(handlers),
    "/none.wav": 404,
    "/a.wav": (_, response) => void response.setHeader("Content-Type", "audio/wav").end(wav(2)),
  });
  const { emulator, client } = await startVonage({ callee, clock: "instant" });
  const uuid = await place(client, callOf(application.origin, {}, to));
  live = { client, uuid, origin: application.origin };
  const call = await emulator.ended(uuid);
  /** Each second of a side, whether there is a sound. */
  const sounds = (side: "callee" | "application") =>
    emulator
      .audio(uuid)
      ?.peaks(side, 1_000)
      .map((peak) => (peak > 0 ? 1 : 0));
  return { ...application, call, emulator, client, uuid, results, sounds };
};

it("talk speaks beside the flow, until it has ended or is stopped", async () => {
  const { results, call, sounds, uuid } = await operated([
    [1, ({ client, uuid: id }) => client.playTTS(id, { action, text: "a".repeat(31) })],
    [5, ({ client, uuid: id }) => client.playTTS(id, { action, text: "Hello", loop: 0 })],
    [7, ({ client, uuid: id }) => client.stopTTS(id)],
  ]);
  const said = { uuid, message: "Talk started" };
  expect(results).toMatchObject([said, said, { uuid, message: "Talk stopped" }]);
  expect(sounds("application")).toEqual([0, 1, 1, 1, 0, 1, 1, 0, 0, 0]);
  expect(call.history).toContainEqual(
    expect.objectContaining({ verb: "talk", step: 0, text: "Hello" }),
  );
  expect(call.duration).toBe(10);
});

it("stream plays audio of its length; another takes its place", async () => {
  const { results, sounds } = await operated([
    [0, ({ client, uuid, origin }) => client.streamAudio(uuid, `${origin}/a.wav`, 2)],
    [3, ({ client, uuid, origin }) => client.streamAudio(uuid, `${origin}/a.wav`)],
    [4, ({ client, uuid }) => client.stopStreamAudio(uuid)],
  ]);
  const messages = results.map((one) => (one as { message: string }).message);
  expect(messages).toEqual(["Stream started", "Stream started", "Stream stopped"]);
  expect(sounds("application")).toEqual([1, 1, 1, 1, 0, 0, 0, 0, 0, 0]);
});

it("dtmf presses keys, which the callee hears", async () => {
  const heard: CalleeAct[] = [{ type: "until-keys", keys: "17" }, { type: "hangup" }];
  const { results, call } = await operated(
    [[2, ({ client, uuid }) => client.playDTMF(uuid, "17")]],
    heard,
  );
  expect(results).toMatchObject([{ message: "DTMF sent" }]);
  expect([call.reason, call.duration]).toEqual(["normal", 2]);
});

it("mute takes the callee's audio and words, earmuff what is played, until they are taken back", async () => {
  const { sounds, results } = await operated([
    [1, ({ client, uuid }) => client.muteCall(uuid)],
    [2, ({ client, uuid }) => client.playTTS(uuid, { action, text: "a".repeat(100) })],
    [3, ({ client, uuid }) => client.earmuffCall(uuid)],
    [4, ({ client, uuid }) => client.unmuteCall(uuid)],
    [5, ({ client, uuid }) => client.unearmuffCall(uuid)],
  ]);
  expect(results.filter((one) => typeof one === "string")).toEqual([]);
  expect(sounds("callee")).toEqual([1, 0, 0, 0, 1, 1, 1, 1, 1, 1]);
  expect(sounds("application")).toEqual([0, 0, 1, 0, 0, 1, 1, 1, 1, 0]);
});

it.each<readonly [name: string, operation: Operation, message: string]>([
  [
    "talk",
    ({ client, uuid }) => client.playTTS(uuid, { action, text: "" }),
    "text: must be a text",
  ],
  [
    "talk",
    ({ client, uuid }) => client.playTTS(uuid, { action, text: "a", loop: -1 }),
    "loop: must be a whole number of 0 or more",
  ],
  [
    "stream",
    ({ client, uuid }) => client.streamAudio(uuid, "a.wav"),
    "stream_url: must be a list of one URL of http or https",
  ],
  [
    "stream",
    ({ client, uuid, origin }) => client.streamAudio(uuid, `${origin}/none.wav`),
    "stream_url answered HTTP 404",
  ],
  [
    "dtmf",
    ({ client, uuid }) => client.playDTMF(uuid, "1a"),
    "digits: must be 1 to 100 of 0 to 9, *, # and p",
  ],
])("%s: what breaks a rule is refused by name", async (_, operation, message) => {
  const { emulator } = await operated([[0, operation]]);
  expect(emulator.refused.map(({ detail }) => detail)).toEqual([expect.stringContaining(message)]);
});

it("nothing is played to a call that is over", async () => {
  const { client, uuid } = await operated([]);
  const refused = expect.objectContaining({ status: 400 });
  const answers = [
    client.playTTS(uuid, { action, text: "Hello" }),
    client.playDTMF(uuid, "1"),
    client.muteCall(uuid),
  ];
  const refusals = await Promise.allSettled(answers);
  expect(refusals).toEqual(
    answers.map(() => ({
      status: "rejected",
      reason: expect.objectContaining({ response: refused }),
    })),
  );
});
