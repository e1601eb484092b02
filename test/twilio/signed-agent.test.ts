import { afterEach, beforeEach, expect, test } from "vitest";
import { openaiRealtime } from "../../src/agents/adapters/openai-realtime.ts";
import type { SessionEnd } from "../../src/agents/agent-session.ts";
import { connectAgent } from "../../src/agents/session.ts";
import { signUrl } from "../../src/callbacks/signed-url.ts";
import { twilio } from "../../src/carriers/twilio/index.ts";
import { twimlOf } from "../../src/carriers/twilio/twiml.ts";
import { stream } from "../../src/flows/actions.ts";
import { flat, interrupting } from "../agents/callee.ts";
import { serveOpenai } from "../agents/protocols.ts";
import type { AgentServer } from "../agents/server.ts";
import { answering, from, listenForSockets } from "../carriers/stage.ts";
import { answerAt } from "../conformance/models/model.ts";
import { accountSid, startTwilio } from "./stage.ts";

const secret = "a secret of this test";
const service = twilio({ accountSid });

let server: AgentServer;
beforeEach(async () => {
  server = await serveOpenai({ answers: [20_000, 800], late: 3, turns: 1 });
});
afterEach(() => server.close());

test("an agent whose ws_url is signed is interrupted: nothing more of that answer is played", async () => {
  const { promise: ended, resolve } = Promise.withResolvers<SessionEnd>();
  const ws_url = await listenForSockets((socket, url) => {
    const agent = openaiRealtime({ apiKey: "sk-key", url: server.url });
    connectAgent(socket, agent, { service, secret, url, onEnd: resolve });
  });
  // The callee interrupts the agent after 700 ms, and hangs up after the next answer.
  const { emulator, client } = await startTwilio({
    clock: "real",
    ringDuration: 0,
    callee: interrupting(700, (id) => emulator.audio(id)),
  });
  const twiml = twimlOf(stream(await signUrl(ws_url, { secret })));
  const { sid } = await client.calls.create({ from, to: answering, twiml });
  const record = await emulator.ended(sid);
  expect([record.reason, record.flow_error]).toEqual(["normal", undefined]);
  expect(await ended).toMatchObject({
    reason: "hung_up",
    metrics: { interruptions: { count: 1 } },
  });
  const audio = emulator.audio(sid);
  const [cut, ...others] = audio?.cuts ?? [];
  expect(others).toEqual([]);
  expect(cut?.samples).toBeGreaterThan(0);
  /** The answers that were played from a moment on, in ms. */
  const answersFrom = (ms: number) => {
    const samples = flat(audio?.samples("application").slice(ms * 8) ?? new Int16Array());
    return new Set([...samples].map(answerAt).filter((answer) => answer >= 0));
  };
  expect(answersFrom(0)).toEqual(new Set([0, 1]));
  expect(answersFrom(cut?.at_ms ?? 0)).toEqual(new Set([1]));
});
