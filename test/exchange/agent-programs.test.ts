import { expect, onTestFinished, test } from "vitest";
import { WebSocketServer } from "ws";
import {
  type Agent,
  connectAgent,
  leaveVoicemail,
  openaiRealtime,
  type SessionEnd,
  type SessionOptions,
  transferTo,
} from "../../src/agents/index.ts";
import { signUrl, verifyUrl } from "../../src/callbacks/index.ts";
import { twilio } from "../../src/carriers/twilio/index.ts";
import { type Dial, flowHandler, hangup, stream } from "../../src/flows/index.ts";
import { Client } from "../../src/index.ts";
import { serveOpenai } from "../agents/protocols.ts";
import { accountSid, authToken, clientFor } from "../twilio/stage.ts";
import { serveProgram } from "./program.ts";
import {
  from,
  hears,
  openServedStage,
  pause,
  speakUntilHeard,
  spoken,
  to,
  until,
} from "./stage.ts";
import { isAudible, tone, voice } from "./telephone/ear.ts";

const interfaces = ["own", "twilio"] as const;
type Interface = (typeof interfaces)[number];

const secret = "the secret of the agent's own URLs";
const serviceOf = (name: Interface) =>
  name === "twilio" ? { service: twilio({ accountSid, authToken }) } : {};

/** A program of docs/agents.md: its flow streams to its agent, and goes on with what that decides. */
const startProgram = async (name: Interface, agent: Agent, options: SessionOptions) => {
  const decided = new Map<string, Dial>();
  const ends: SessionEnd[] = [];
  const sockets = new WebSocketServer({
    host: "127.0.0.1",
    port: 0,
    verifyClient: async ({ req }, done) => {
      // Twilio drops the query: connectAgent verifies what comes in the stream's start.
      if (name === "twilio") done(true);
      else
        await verifyUrl(req.url ?? "", { secret }).then(
          () => done(true),
          () => done(false, 401),
        );
    },
  });
  sockets.on("connection", (socket, { url }) => {
    const signed = name === "twilio" ? { ...serviceOf(name), secret, url } : {};
    connectAgent(socket, agent, { ...options, ...signed, onEnd: (end) => void ends.push(end) });
  });
  onTestFinished(() => {
    for (const client of sockets.clients) client.terminate();
    sockets.close();
  });
  await new Promise((resolve) => sockets.once("listening", resolve));
  const address = sockets.address();
  if (typeof address === "string" || !address) throw new Error("no port");
  const flow = flowHandler({
    ...serviceOf(name),
    secret,
    onAnswer: async () =>
      stream(await signUrl(`ws://127.0.0.1:${address.port}/media`, { secret }), { next: "after" }),
    steps: { after: ({ call }) => decided.get(call.call_id) ?? hangup() },
  });
  const origin = await serveProgram(async (request) =>
    new URL(request.url).pathname === "/flow" ? flow(request) : new Response(null, { status: 204 }),
  );
  return {
    decided,
    ends,
    flow_url: await signUrl(`${origin}/flow`, { secret }),
    status_callback_url: `${origin}/status`,
  };
};

/** Places a call of such a program on an exchange, and answers it. */
const answerCall = async (
  name: Interface,
  { flow_url, status_callback_url }: Awaited<ReturnType<typeof startProgram>>,
) => {
  const own =
    name === "twilio" ? { service: { name, account: accountSid }, apiKey: authToken } : {};
  const stage = await openServedStage({ answerTimeout: 30_000, ...own });
  const ringing = stage.telephone.next();
  if (name === "twilio") {
    await clientFor(stage.baseUrl).calls.create({ from, to, url: flow_url });
  } else {
    const { exchange, baseUrl } = stage;
    const numbers = { from_number: from, to_number: to };
    const client = new Client(exchange.apiKey, { baseUrl });
    await client.calls.create({ ...numbers, flow_url, status_callback_url });
  }
  const call = await ringing;
  call.ring();
  await call.answer();
  return { ...stage, call };
};

const opening = async () => {
  const text = "I am a machine, and this call is recorded.";
  return { audio: await spoken(text), sampleRate: 8_000, text };
};

const billing = "+12025550151";

test.each(interfaces)(
  "an agent's first words are heard whole, whatever is said meanwhile, it answers, and connects with another telephone: %s",
  async (name) => {
    const { url, close } = await serveOpenai({
      answers: [700],
      further: 700,
      calls: { 1: { name: "transfer", args: { target: "billing" } } },
    });
    onTestFinished(close);
    const transfer = transferTo(
      { billing: { to: billing, timeout: 20 } },
      { decide: ({ call_id }, action) => void program.decided.set(call_id, action) },
    );
    const agent = openaiRealtime({ apiKey: "sk-key", url, greeting: false, tools: { transfer } });
    const program = await startProgram(name, agent, { opening: await opening() });
    const { call, addTelephone } = await answerCall(name, program);
    const other = await addTelephone(billing);
    await call.speak(voice(1, 600));
    const { next } = await hears(call, (await opening()).audio);
    const rings = other.next();
    let second: Awaited<typeof rings> | undefined;
    rings.then((ringing) => {
      second = ringing;
    });
    // A model that answers each speech: with the second of them it transfers.
    while (!second && !call.isOver) {
      await call.speak(voice(1, 600));
      await pause(3_000);
    }
    const answers = call.packets.slice(next).filter(({ samples }) => isAudible(samples));
    expect(answers.length).toBeGreaterThan(20);
    const ringing = await rings;
    ringing.ring();
    await ringing.answer();
    await speakUntilHeard(call, ringing, voice(2, 1_000));
    await speakUntilHeard(ringing, call, voice(3, 1_000));
    ringing.hangUp();
    expect(await call.ended).toBe("caller");
    expect(program.ends.map(({ outcome }) => outcome)).toEqual(["transferred"]);
  },
);

test.each(interfaces)(
  "a message is left on an answering machine, whole, after its beep: %s",
  async (name) => {
    const { url, close } = await serveOpenai({
      answers: [0],
      further: false,
      calls: { 0: { name: "leave_voicemail", args: {} } },
    });
    onTestFinished(close);
    const message = await spoken("This is Ann of Acme. Please call us back.");
    const tools = { leave_voicemail: leaveVoicemail({ audio: message, sampleRate: 8_000 }) };
    const agent = openaiRealtime({ apiKey: "sk-key", url, greeting: false, tools });
    const program = await startProgram(name, agent, { opening: await opening() });
    const { call, exchange } = await answerCall(name, program);
    await call.speak(await spoken("You have reached Ann. Please leave a message after the tone."));
    await call.speak(new Int16Array(8 * 300));
    await call.speak(tone(1_000, 500));
    await pause(500);
    const beeped = call.packets.length;
    const disclosed = await hears(call, (await opening()).audio, 0.9, beeped);
    await hears(call, message, 0.9, disclosed.next);
    expect(await call.ended).toBe("caller");
    await until(() => program.ends.length > 0);
    expect(program.ends.map(({ outcome }) => outcome)).toEqual(["message_left"]);
    const [{ state, reason } = {}] = exchange.calls;
    expect([state, reason]).toEqual(["completed", "normal"]);
  },
);
