import { serve } from "@hono/node-server";
import { Miniflare } from "miniflare";
import { createEmulator, type EmulatorOptions } from "outdial/emulator";
import { twilio } from "outdial/twilio";
import { afterEach, expect, test } from "vitest";
import { WebSocket } from "ws";
import { heardIn, msOf } from "../agents/callee.ts";
import { serveOpenai } from "../agents/protocols.ts";
import { startFront } from "../bridge/front.ts";
import { type Behaviour, levelOf } from "../conformance/models/model.ts";
import { voice } from "../conformance/models/voice.ts";
import { randomOf } from "../random.ts";
import { bundle } from "./bundle.ts";

const accountSid = "AC0123456789abcdef0123456789abcdef";
const answering = "+12025550100";
const CALL_TOKEN = "a token that was made at random";

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** The Worker in workerd, the emulated Twilio, and an agent; its answer takes a minute unless it is told otherwise. */
const start = async (
  options: EmulatorOptions = {},
  behaviour: Behaviour = { answers: [60_000] },
  more: Readonly<Record<string, string>> = {},
) => {
  const agent = await serveOpenai(behaviour);
  closing.push(agent.close);
  const emulator = createEmulator({
    service: twilio({ accountSid }),
    host: "127.0.0.1",
    ringDuration: 0,
    responseTimeout: 120_000, // Only ends what hangs: the machine may do much else.
    ...options,
  });
  const server = serve({
    fetch: (request) => emulator.fetch(request),
    hostname: "127.0.0.1",
    port: 0,
  });
  await new Promise((resolve) => server.once("listening", resolve));
  const address = server.address();
  closing.push(
    () => new Promise((resolve) => server.close(resolve)),
    () => emulator.close(),
  );
  const front = await startFront();
  const worker = new Miniflare({
    modules: true,
    script: await bundle("examples/twilio/worker.ts", "esm"),
    compatibilityDate: "2026-08-01",
    host: "127.0.0.1",
    port: 0,
    bindings: {
      TWILIO_ACCOUNT_SID: accountSid,
      TWILIO_AUTH_TOKEN: emulator.apiKey,
      TWILIO_BASE_URL: `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`,
      FROM_NUMBER: "+12025550199",
      PUBLIC_URL: front.url,
      SIGNING_SECRET: crypto.randomUUID(),
      CALL_TOKEN,
      AGENT_KEY: "sk-key",
      AGENT_URL: agent.url,
      ...more,
    },
  });
  closing.push(front.close, () => worker.dispose());
  front.forwardTo(Number((await worker.ready).port));
  const place = (body: string, token = CALL_TOKEN) =>
    fetch(`${front.url}/calls`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}` },
      body,
    });
  return { emulator, place, agent, url: front.url };
};

test("a call: its events are accepted, and the agent is interrupted by the callee", async () => {
  const truncations = () =>
    (agent.peers[0]?.received ?? []).filter(
      (message) => "type" in message && message.type === "conversation.item.truncate",
    );
  const { emulator, place, agent } = await start({
    callee: async function* () {
      yield { type: "listen", ms: 400 };
      yield { type: "tone", hertz: 300, ms: 500 };
      while (truncations().length === 0) yield { type: "silence", ms: 100 };
      yield { type: "hangup" };
    },
  });
  const response = await place(answering);
  expect(response.status).toBe(201);
  const { call_id } = await response.json();
  const { state, reason, flow_error, history } = await emulator.ended(call_id);
  expect({ state, reason, flow_error }).toEqual({ state: "completed", reason: "normal" });
  const answers = history.flatMap((entry) =>
    entry.type === "notification" ? [[entry.event, entry.status]] : [],
  );
  expect(answers).toEqual([
    ["initiated", 204],
    ["ringing", 204],
    ["answered", 204],
    ["completed", 204],
  ]);
  const { played = [], cuts = [] } = emulator.audio(call_id) ?? {};
  expect(cuts).toMatchObject([{ type: "clear" }]);
  const heard = played.reduce((sum, { samples }) => sum + samples / 8, 0);
  expect(heard).toBeGreaterThanOrEqual(400);
  expect(truncations()).toHaveLength(1);
});

/** A call that has ended, and what its callee heard. */
const callThrough = async ({ emulator, place }: Awaited<ReturnType<typeof start>>) => {
  const { call_id } = await (await place(answering)).json();
  const { flow_error, history } = await emulator.ended(call_id);
  const audio = emulator.audio(call_id);
  if (!audio) throw new Error("no audio is known of the call");
  const verbs = history.flatMap((entry) => (entry.type === "verb" ? [entry] : []));
  return { flow_error, verbs, audio };
};

test("a quiet callee hears first that it is a machine, is asked twice, and then the call ends", async () => {
  const callee = [{ type: "silence", ms: 600_000 }] as const;
  const answers = [300, 400, 500, 600];
  const started = await start({ callee }, { answers }, { IDLE_SECONDS: "0.3" });
  const { flow_error, audio } = await callThrough(started);
  expect(flow_error).toBeUndefined();
  expect(answers.map((_, answer) => Math.round(msOf(answer, audio)))).toEqual(answers);
  const [update] = started.agent.peers[0]?.received ?? [];
  expect(JSON.stringify(update)).toContain("Say at once that you are a machine.");
});

test("a voicemail gets a message that says it is a machine's, after its beep", async () => {
  let beepEnd = 0;
  const started = await start(
    {
      callee: async function* (call) {
        yield { type: "listen", ms: 300 };
        yield { type: "say", voice: { audio: voice(1_200, randomOf(1)), sampleRate: 8_000 } };
        yield { type: "silence", ms: 1_500 };
        yield { type: "tone", hertz: 1_000, ms: 300 };
        beepEnd = call.ms;
        yield { type: "silence", ms: 600_000 };
      },
    },
    { answers: [300, 0, 700], calls: { 1: { name: "leave_voicemail", args: {} } } },
  );
  const { flow_error, audio } = await callThrough(started);
  expect(flow_error).toBeUndefined();
  expect(heardIn(audio, { message: levelOf(2) }, beepEnd)).toEqual([["message", 700]]);
  const asked = JSON.stringify(started.agent.peers[0]?.received);
  expect(asked).toMatch(/Leave this message now[^}]*I am a machine\. Please call us back\./);
});

test("a transfer dials the person of TRANSFER_TO, once the last words were heard", async () => {
  const person = "+12025550101"; // Is busy.
  const started = await start(
    { callee: [{ type: "silence", ms: 600_000 }] },
    { answers: [300], calls: { 0: { name: "transfer", args: { target: "person" } } } },
    { TRANSFER_TO: person },
  );
  const { flow_error, verbs, audio } = await callThrough(started);
  expect(flow_error).toBeUndefined();
  expect(Math.round(msOf(0, audio))).toBe(300);
  expect(verbs.map(({ verb }) => verb)).toEqual(["Stream", "Dial"]);
  expect(JSON.stringify(verbs)).toContain(person);
});

test.each([
  ["503, as nobody was called, for what is no number", "0170 123", CALL_TOKEN, 503],
  ["401 without the token", answering, "another token", 401],
])("answers %s", async (_, body, token, status) => {
  const { emulator, place } = await start();
  expect((await place(body, token)).status).toBe(status);
  expect(emulator.calls).toEqual([]);
});

test("answers 401 to a forged notification and a forged flow request, and connects no agent with a stranger", async () => {
  const { url, agent } = await start();
  const body = new URLSearchParams({ CallSid: "CA1", CallStatus: "completed" });
  for (const path of ["/status", "/flow"]) {
    expect((await fetch(url + path, { method: "POST", body })).status).toBe(401);
  }
  const socket = new WebSocket(`${url.replace("http", "ws")}/media`);
  const code = await new Promise((resolve) => {
    socket.on("close", resolve);
    socket.on("open", () => {
      const mediaFormat = { encoding: "audio/x-mulaw", sampleRate: 8000, channels: 1 };
      const ids = { streamSid: "MZ1", callSid: "CA1", accountSid };
      const start = { ...ids, tracks: ["inbound"], mediaFormat, customParameters: {} };
      socket.send(JSON.stringify({ event: "start", sequenceNumber: "1", start, streamSid: "MZ1" }));
    });
  });
  expect(code).toBe(1008);
  expect(agent.upgrades).toEqual([]);
});
