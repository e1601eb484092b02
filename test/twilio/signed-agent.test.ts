import { createServer } from "node:http";
import { afterEach, beforeEach, expect, onTestFinished, test } from "vitest";
import { type WebSocket, WebSocketServer } from "ws";
import { openaiRealtime } from "../../src/agents/adapters/openai-realtime.ts";
import { connectAgent } from "../../src/agents/connect.ts";
import type { SessionEnd } from "../../src/agents/options.ts";
import { type Context, signUrl } from "../../src/callbacks/signed-url.ts";
import { stream } from "../../src/flows/actions.ts";
import type { MediaStart } from "../../src/flows/media/messages.ts";
import { twilio } from "../../src/twilio/index.ts";
import { twimlOf } from "../../src/twilio/twiml.ts";
import { flat, interrupting } from "../agents/callee.ts";
import { answerAt } from "../agents/model.ts";
import { serveOpenai } from "../agents/protocols/openai.ts";
import { type AgentServer, listen } from "../agents/server.ts";
import { accountSid, answering, from, startTwilio } from "./stage.ts";

const secret = "a secret of this test";
const context = { order: 17 };

let server: AgentServer;
beforeEach(async () => {
  server = await serveOpenai({ answers: [20_000, 800], late: 3 });
});
afterEach(() => server.close());

/** An application's end of a media socket, and the URL of its request. */
type Application = (socket: WebSocket, url: string) => void;

/** The address of an application that takes media sockets, until the test is over. */
const serve = async (application: Application): Promise<string> => {
  const http = createServer();
  const sockets = new WebSocketServer({ server: http });
  sockets.on("connection", (socket, { url = "" }) => application(socket, url));
  const port = await listen(http);
  onTestFinished(async () => {
    for (const socket of sockets.clients) socket.terminate();
    sockets.close();
    http.closeAllConnections();
    await new Promise((resolve) => http.close(resolve));
  });
  return `ws://127.0.0.1:${port}/media`;
};

/** A call through the emulator, whose callee interrupts the agent after 700 ms, and hangs up after the next answer. */
const call = async (application: Application, sign: typeof signUrl = signUrl) => {
  const ws_url = await sign(await serve(application), { secret, context });
  const { emulator, client } = await startTwilio({
    clock: "real",
    ringDuration: 0,
    callee: interrupting(700, (id) => emulator.audio(id)),
  });
  const { sid } = await client.calls.create({
    from,
    to: answering,
    twiml: twimlOf(stream(ws_url)),
  });
  const record = await emulator.ended(sid);
  const audio = emulator.audio(sid);
  if (!audio) throw new Error("no audio is known of the call");
  /** The answers that were heard from a moment on, in ms. */
  const answersFrom = (ms: number) => {
    const samples = flat(audio.samples("application").slice(ms * 8));
    return new Set([...samples].map(answerAt).filter((answer) => answer >= 0));
  };
  return { record, audio, answersFrom };
};

const service = twilio({ accountSid });
/** An application whose agent must be signed for, what it was started with, and how it ended. */
const signedApplication = () => {
  const started: unknown[] = [];
  const { promise: ended, resolve } = Promise.withResolvers<SessionEnd>();
  const application: Application = (socket, url) => {
    const agent = openaiRealtime({ apiKey: "sk-key", url: server.url });
    const onStart = ({ call_id }: MediaStart, given: Context) => started.push({ call_id, given });
    connectAgent(socket, agent, { service, secret, url, onStart, onEnd: resolve });
  };
  return { application, started, ended };
};

test("an agent whose ws_url is signed is interrupted: nothing more of that answer is heard", async () => {
  const { application, ended } = signedApplication();
  const { record, audio, answersFrom } = await call(application);
  expect([record.reason, record.flow_error]).toEqual(["normal", undefined]);
  expect(await ended).toMatchObject({
    reason: "hung_up",
    metrics: { interruptions: { count: 1 } },
  });
  const [cut, ...others] = audio.cuts;
  expect(others).toEqual([]);
  expect(cut?.samples).toBeGreaterThan(0);
  expect(answersFrom(0)).toEqual(new Set([0, 1]));
  expect(answersFrom(cut?.at_ms ?? 0)).toEqual(new Set([1]));
});

test("it gets the context of the ws_url, through TwiML and start", async () => {
  const { application, started } = signedApplication();
  await call(application);
  expect(started).toEqual([{ call_id: expect.stringMatching(/^CA[\da-f]{32}$/), given: context }]);
});

test("no agent is called for a stream whose ws_url isn't signed", async () => {
  const { application, started, ended } = signedApplication();
  await call(application, async (url) => url);
  expect(await ended).toMatchObject({ reason: "unverified" });
  expect([started, server.upgrades]).toEqual([[], []]);
});
