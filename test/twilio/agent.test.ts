import { createServer } from "node:http";
import { TwilioRealtimeTransportLayer } from "@openai/agents-extensions";
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from "vitest";
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
const options = { apiKey: "sk-key", model: "gpt-realtime" } as const;

describe.each<[string, () => Application]>([
  [
    "connectAgent",
    () => (socket, url) => {
      const agent = openaiRealtime({ ...options, url: server.url });
      connectAgent(socket, agent, { service, secret, url });
    },
  ],
  [
    "TwilioRealtimeTransportLayer",
    () => async (socket) => {
      const transport = new TwilioRealtimeTransportLayer({ twilioWebSocket: socket });
      const turnDetection = { type: "server_vad", interruptResponse: true } as const;
      const initialSessionConfig = { audio: { input: { turnDetection } } };
      await transport.connect({ ...options, url: server.url, initialSessionConfig });
      transport.sendEvent({ type: "response.create" });
    },
  ],
])("%s on the emulator", (_, application) => {
  test("is interrupted: the callee hears nothing more of that answer, and the agent is told where it was", async () => {
    const { record, audio, answersFrom } = await call(application());
    expect([record.reason, record.flow_error]).toEqual(["normal", undefined]);
    const [cut, ...others] = audio.cuts;
    expect(others).toEqual([]);
    expect(cut?.samples).toBeGreaterThan(0);
    expect(answersFrom(0)).toEqual(new Set([0, 1]));
    expect(answersFrom(cut?.at_ms ?? 0)).toEqual(new Set([1]));
    const [truncation, ...more] = (server.peers[0]?.received ?? []).filter(
      (message) => Object(message).type === "conversation.item.truncate",
    );
    expect(more).toEqual([]);
    const { audio_end_ms } = Object(truncation);
    const sent = audio.played
      .filter(({ from_ms }) => from_ms <= (cut?.at_ms ?? 0))
      .reduce((sum, { total }) => sum + total / 8, 0);
    expect(audio_end_ms).toBeGreaterThan(0);
    expect(audio_end_ms).toBeLessThanOrEqual(sent);
  });
});

/** An application whose agent must be signed for, what it was started with, and how it ended. */
const signedApplication = () => {
  const started: unknown[] = [];
  const { promise: ended, resolve } = Promise.withResolvers<SessionEnd>();
  const application: Application = (socket, url) => {
    const agent = openaiRealtime({ ...options, url: server.url });
    const onStart = ({ call_id }: MediaStart, given: Context) => started.push({ call_id, given });
    connectAgent(socket, agent, { service, secret, url, onStart, onEnd: resolve });
  };
  return { application, started, ended };
};

test("connectAgent gets the context of the signed ws_url, through TwiML and start", async () => {
  const { application, started, ended } = signedApplication();
  await call(application);
  expect(await ended).toMatchObject({
    reason: "hung_up",
    metrics: { interruptions: { count: 1 } },
  });
  expect(started).toEqual([{ call_id: expect.stringMatching(/^CA[\da-f]{32}$/), given: context }]);
});

test("connectAgent calls no agent for a stream that it has not signed", async () => {
  const { application, started, ended } = signedApplication();
  await call(application, async (url) => url);
  expect(await ended).toMatchObject({ reason: "unverified" });
  expect([started, server.upgrades]).toEqual([[], []]);
});
