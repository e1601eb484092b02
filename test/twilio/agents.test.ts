import { TwilioRealtimeTransportLayer } from "@openai/agents-extensions";
import { expect, test } from "vitest";
import type { WebSocket } from "ws";
import { openaiRealtime } from "../../src/agents/adapters/openai-realtime.ts";
import { connectAgent } from "../../src/agents/session.ts";
import { mediaSide } from "../../src/carriers/twilio/media.ts";
import { LocalSocket } from "../agents/local-socket.ts";
import { converse } from "../agents/protocols.ts";
import { answering, from, listenForSockets, streamOf } from "../carriers/stage.ts";
import type { Conversation } from "../conformance/models/model.ts";
import { startTwilio } from "./stage.ts";

/** Connects a Media Stream with an agent's socket; returns what ends that. */
type Bridge = (phone: WebSocket, agent: LocalSocket) => () => unknown;

const theirs: Bridge = (phone, socket) => {
  // What it sends before `start` has no streamSid, and Twilio does not play that.
  const started = new Promise<void>((resolve) => {
    phone.on("message", (data) => JSON.parse(String(data)).event === "start" && resolve());
  });
  const transport = new TwilioRealtimeTransportLayer({
    twilioWebSocket: phone,
    createWebSocket: async () => socket as unknown as WebSocket,
    skipOpenEventListeners: true,
  });
  const turnDetection = {
    type: "server_vad",
    createResponse: true,
    interruptResponse: true,
  } as const;
  const initialSessionConfig = { audio: { input: { turnDetection } } };
  transport
    .connect({ apiKey: "sk-key", model: "gpt-realtime", initialSessionConfig })
    .then(() => started)
    .then(() => transport.sendEvent({ type: "response.create" }));
  return () => transport.close();
};

const ours: Bridge = (phone, socket) => {
  const agent = openaiRealtime({ apiKey: "sk-key" });
  const service = { media: mediaSide() };
  const options = { service, dangerouslyAllowUnverified: true, open: () => socket } as const;
  return connectAgent(phone, agent, options).close;
};

/** A call whose callee interrupts the agent's answer of six seconds once they have heard 900 ms of it. */
const interrupted = async (bridge: Bridge) => {
  const truncations: number[] = [];
  let conversation: Conversation | undefined;
  const url = await listenForSockets((phone) => {
    const agent = new LocalSocket((text) => {
      const message = JSON.parse(text);
      if (message.type === "conversation.item.truncate") truncations.push(message.audio_end_ms);
      conversation ??= converse((event) => queueMicrotask(() => agent.deliver(event)), {
        answers: [6_000],
      });
      conversation.receive(message);
    });
    const stop = bridge(phone, agent);
    phone.on("close", () => {
      stop();
      conversation?.stop();
    });
  });
  const { emulator, client } = await startTwilio({
    clock: "real",
    ringDuration: 0,
    callee: async function* () {
      yield { type: "listen", ms: 900 };
      yield { type: "say", audio: new Int16Array(8 * 600).fill(14_000) };
      while (truncations.length === 0) yield { type: "silence", ms: 20 };
      yield { type: "silence", ms: 600 };
      yield { type: "hangup" };
    },
  });
  const twiml = `<Response><Connect><Stream url="${url}"/></Connect></Response>`;
  const { sid } = await client.calls.create({ from, to: answering, twiml });
  const call = await emulator.ended(sid);
  expect(call.flow_error).toBeUndefined();
  expect(streamOf(call)).toMatchObject({ malformed: [] });
  const audio = emulator.audio(sid);
  const [cut] = audio?.cuts ?? [];
  const before = audio?.played.filter(({ from_ms }) => from_ms < (cut?.at_ms ?? 0)) ?? [];
  return {
    truncations,
    cut,
    played: before.reduce((sum, { samples }) => sum + samples / 8, 0),
  };
};

test("TwilioRealtimeTransportLayer of @openai/agents-extensions is interrupted on the emulator's line", async () => {
  const { truncations, cut, played } = await interrupted(theirs);
  expect(cut).toMatchObject({ type: "clear" });
  expect(played).toBeGreaterThanOrEqual(900);
  expect(truncations).toHaveLength(1);
  const [audio_end_ms = 0] = truncations;
  // It counts the messages of 100 ms whose marks came back, and adds 50 ms.
  expect(audio_end_ms).toBeGreaterThan(50);
  expect((audio_end_ms - 50) % 100).toBe(0);
  expect(audio_end_ms - 50).toBeLessThanOrEqual(played);
});

test("connectAgent is interrupted on the emulator's line", async () => {
  const { truncations, cut, played } = await interrupted(ours);
  expect(cut).toMatchObject({ type: "clear" });
  expect(played).toBeGreaterThanOrEqual(900);
  expect(truncations).toHaveLength(1);
});
