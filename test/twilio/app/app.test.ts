import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import type { CalleeScript, EmulatorOptions } from "../../../src/emulator/index.ts";
import { answering, from, verbsOf } from "../../carriers/stage.ts";
import { accountSid, authToken, startTwilio } from "../stage.ts";
import { voiceApplication } from "./server.js";

/** The application, unchanged but for its base URL, and a call that it places. */
const called = async (agent: string, options: EmulatorOptions) => {
  const { emulator, baseUrl } = await startTwilio(options);
  const { server, calls, log } = voiceApplication({ accountSid, authToken, baseUrl, from, agent });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const response = await fetch(`http://127.0.0.1:${port}/call`, {
    method: "POST",
    body: new URLSearchParams({ to: answering }),
  });
  const { sid } = await response.json();
  const call = await emulator.ended(sid);
  return { call, log, statuses: calls.get(sid), audio: emulator.audio(sid) };
};

const whole = ["initiated", "ringing", "in-progress", "completed"];

/** Presses a key some milliseconds after the answer. */
const press = (...keys: readonly (readonly [ms: number, digits: string])[]): CalleeScript =>
  async function* () {
    for (const [ms, digits] of keys) {
      yield { type: "until", ms };
      yield { type: "press", digits };
    }
  };

it("an application of Express: the menu asks again, and its Dial is given how it ended", async () => {
  const { call, log, statuses } = await called("+12025550188", {
    callee: press([9_000, "1"]),
  });
  expect(log).toEqual(["pressed 1", "dialled completed", "recording completed 18"]);
  expect(statuses).toEqual(whole);
  expect(verbsOf(call)).toEqual([
    "Gather",
    "Say 2990",
    "Redirect",
    "Gather",
    "Say 2990",
    "Say 1690",
    "Dial",
    "Hangup",
  ]);
  expect(call).toMatchObject({ state: "completed", reason: "normal", record: true });
});

it("an application of Express: a busy agent, and then the echo of its Media Stream", async () => {
  const { call, log, statuses, audio } = await called("+12025550101", {
    callee: press([1_000, "1"], [6_000, "2"]),
  });
  expect(log.slice(0, 5)).toEqual([
    "pressed 1",
    "dialled busy",
    "pressed 2",
    "stream in en",
    "mark echo",
  ]);
  expect(statuses).toEqual(whole);
  expect(call).toMatchObject({ state: "completed", reason: "normal" });
  expect(audio?.played.reduce((sum, { samples }) => sum + samples, 0)).toBe(25 * 160);
});
