import assert from "node:assert/strict";
import { test } from "node:test";
//~ carrier: import { createEmulator } from "outdial/emulator";
import { type CalleeAct, type ScriptedAnswer, scriptedAgent, simulateCall } from "outdial/testing";
//~ carrier: import { {name} } from "outdial/{name}";
import { createApp } from "./app.ts";

//~ carrier: const account = {accountText};
//~ carrier: const service = {name}({ {accountField}: account });
//~ carrier: const keys = createEmulator({ service });
//~ carrier:
const settings = {
  OUTDIAL_BASE_URL: "https://voice.test",
  //~ carrier: OUTDIAL_ACCOUNT: account,
  //~ !carrier
  OUTDIAL_API_KEY: "the key of a test",
  //~ end
  //~ carrier: OUTDIAL_API_KEY: keys.apiKey,
  //~ signs: OUTDIAL_SIGNATURE_SECRET: keys.webhookSecret,
  FROM_NUMBER: "+12025550199",
  DESK_NUMBER: "+12025550100",
  PUBLIC_URL: "https://app.test",
  SIGNING_SECRET: crypto.randomUUID(),
  CALL_TOKEN: crypto.randomUUID(),
};

/** A call of the application in virtual time, whose agent follows a script in the place of a model. */
const talk = async (answers: ScriptedAnswer[], caller: CalleeAct[]) => {
  const booked: string[] = [];
  const app = createApp(settings, {
    makeAgent: (tools) => scriptedAgent(answers, { patience: 500, tools }),
    book: async (time) => {
      booked.push(time);
      return `${time} is booked`;
    },
    onEvent: () => {},
    onEnd: () => {},
  });
  const call = await simulateCall({
    flow: app.fetch,
    app: app.connect,
    secret: settings.SIGNING_SECRET,
    //~ carrier: service,
    //~ carrier: apiKey: settings.OUTDIAL_API_KEY,
    //~ sharesSecret: webhookSecret: settings.OUTDIAL_SIGNATURE_SECRET,
    line: { latency: 80, jitter: 20, narrowband: true, seed: 1 },
    caller,
  });
  return { call, booked };
};

/** Speech of so many milliseconds: better a recording, by `wav` of outdial/testing. */
const speech = (ms: number, expect: "respond" | "stop" = "respond"): CalleeAct => {
  const audio = Int16Array.from({ length: ms * 8 }, (_, at) => (at % 40 < 20 ? 5_000 : -5_000));
  return { type: "say", voice: { audio, sampleRate: 8_000 }, expect };
};

test("the agent books, responds in time, and stops when it is interrupted", {
  timeout: 60_000,
}, async () => {
  const { call, booked } = await talk(
    [{ ms: 2_000 }, { tool: "book", args: { time: "Monday at nine" } }, { ms: 4_000 }, { ms: 900 }],
    [
      { type: "until-quiet" },
      speech(1_000), // On Monday at nine.
      { type: "until-speech", ms: 1_000 },
      speech(800, "stop"), // No, wait.
      { type: "until-quiet" },
      { type: "hangup" },
    ],
  );
  assert.deepEqual(booked, ["Monday at nine"]);
  assert.equal(call.turns.length, 2);
  assert.ok((call.response.max ?? Infinity) < 1_200, "it responds late");
  assert.ok((call.stop.max ?? Infinity) < 600, "it talks over the caller");
  assert.ok(!call.turns.some(({ missed, cutIn, talkedOn }) => missed || cutIn || talkedOn));
});

test("a voicemail gets the message, after its beep", { timeout: 60_000 }, async () => {
  const { call } = await talk(
    [{ ms: 500 }, { tool: "leave_voicemail", args: {} }, { ms: 3_000 }],
    [
      speech(1_500), // You have reached Ann.
      { type: "silence", ms: 1_200 },
      { type: "tone", hertz: 1_000, ms: 300 },
      { type: "until", ms: 20_000 },
    ],
  );
  assert.equal(call.end.outcome, "message_left");
});

test("a callee who wants a person is connected to the desk", { timeout: 60_000 }, async () => {
  const { call } = await talk(
    [{ ms: 1_000 }, { tool: "transfer", args: { target: "desk" } }, { ms: 700 }],
    [{ type: "until-quiet" }, speech(900), { type: "until", ms: 60_000 }],
  );
  assert.equal(call.end.outcome, "transferred");
  const dialed = call.transcript.filter(({ type }) => type === "dialed");
  assert.deepEqual(
    dialed.map(({ text }) => text),
    [settings.DESK_NUMBER],
  );
});

test("nobody is called without the token, and no audio is taken without a signature", {
  timeout: 60_000,
}, async () => {
  const app = createApp(settings, { makeAgent: () => scriptedAgent([]) });
  const headers = { authorization: "Bearer guess" };
  const request = new Request("https://app.test/call", { method: "POST", headers, body: "{}" });
  assert.equal((await app.fetch(request)).status, 401);
  //~ !verifiesStart
  assert.equal(await app.accept("https://app.test/media"), undefined);
  //~ end
  assert.equal(await app.accept("https://app.test/other"), undefined);
});
