// The process whose media are measured: the exchange and an application with an agent. Its parent has the telephones, so that a
// stall of this process stalls nobody's ear.
import { writeFileSync } from "node:fs";
import { WebSocketServer } from "ws";
import { connectAgent } from "../../../src/agents/index.ts";
import { twilio } from "../../../src/carriers/twilio/index.ts";
import { emulate } from "../../../src/emulator/emulator.ts";
import { wavHead } from "../../../src/emulator/recording/wav.ts";
import { openTelephones } from "../../../src/exchange/telephones.ts";
import { Client } from "../../../src/index.ts";
import { scriptedAgent } from "../../../src/testing/index.ts";
import { tone, voice } from "../telephone/ear.ts";
import type { Asked, Given, Reported } from "./messages.ts";

const given: Given = JSON.parse(process.env.GATEWAY ?? "");
const account = {
  accountSid: "AC0123456789abcdef0123456789abcdef",
  authToken: "fedcba9876543210fedcba9876543210",
};
const service = given.side === "twilio" ? twilio(account) : undefined;
const report = (reported: Reported): void => void process.send?.(reported);

const telephones = await openTelephones({
  ari: { ...given.asterisk, app: `figures${process.pid}` },
  endpoint: (number) => `PJSIP/trunk/sip:${number}@${given.telephone}`,
});

const sound = (samples: Int16Array): Response =>
  new Response(new Blob([wavHead(samples.length, 8_000), Int16Array.from(samples)]));

const url = (path: string): string => `https://app.test/${path}`;
const keys = (...media: readonly string[]) => ({
  action: "gather",
  prompts: media.map((name) => ({ media_url: url(name) })),
  ...{ digits: 1, timeout_ms: 10_000, flow_url: url("keyed") },
});

const sockets = new WebSocketServer({ host: "127.0.0.1", port: 0 });
const answers = [{ ms: 300 }, ...Array.from({ length: 60 }, () => ({ ms: 20_000 }))];
sockets.on("connection", (socket) => {
  const agent = scriptedAgent(answers, { patience: given.patience });
  let id = "";
  connectAgent(
    socket,
    {
      ...agent,
      codec: (line) => {
        const codec = agent.codec(line);
        return {
          ...codec,
          interrupted: (cuts) => {
            for (const { played } of cuts) report({ type: "cut", id, played });
            return codec.interrupted(cuts);
          },
        };
      },
    },
    {
      onStart: ({ call_id }) => {
        id = call_id;
      },
      ...(service && { service, dangerouslyAllowUnverified: true }),
    },
  );
});
await new Promise((resolve) => sockets.once("listening", resolve));
const address = sockets.address();
if (typeof address === "string" || !address) throw new Error("no port");
const ws_url = `ws://127.0.0.1:${address.port}/`;

const connected = `<Response><Connect><Stream url="${ws_url}"/></Connect></Response>`;
const flows: Readonly<Record<string, () => object | string>> = {
  "/agent": () => (service ? connected : { action: "stream", ws_url, chunk_size: 20 }),
  "/keys": () => keys("quiet.wav"),
  "/keyed": () => keys("tone.wav", "quiet.wav"),
  "/prompt": () => ({ action: "play", media_url: url("long.wav") }),
  "/recorded": () => ({ action: "play", media_url: url("voice.wav") }),
};
const media: Readonly<Record<string, () => Int16Array>> = {
  "/quiet.wav": () => new Int16Array(8_000 * 20),
  "/tone.wav": () => tone(600, 300),
  "/long.wav": () => tone(600, given.promptDuration),
  "/voice.wav": () => voice(1, given.recordDuration),
};
const exchange = emulate(
  {
    host: "127.0.0.1",
    ...(service && { service, apiKey: account.authToken }),
    fetch: async (request) => {
      const { pathname } = new URL(request.url);
      const [flow, file] = [flows[pathname], media[pathname]];
      if (flow) {
        const answer = flow();
        if (typeof answer === "object") return Response.json(answer);
        return new Response(answer, { headers: { "content-type": "text/xml" } });
      }
      return file ? sound(file()) : new Response(null, { status: 204 });
    },
  },
  // All of a recording is kept: what is more is not played.
  { telephones, kept: given.recordDuration + 60_000 },
);
const client = new Client(exchange.apiKey, {
  baseUrl: "https://exchange.test",
  ...(service && { service }),
  fetch: exchange.fetch,
});

/** Holds this process up. */
const stall = (ms: number): void => {
  for (const until = performance.now() + ms; performance.now() < until; );
};

const place = async ({ to, flow }: Extract<Asked, { readonly type: "call" }>): Promise<void> => {
  const { id } = await client.calls.create({
    ...{ from_number: "+12025550199", to_number: to, flow_url: url(flow) },
    status_callback_url: url("status"),
  });
  report({ type: "placed", id, to });
  const { flow_error } = await exchange.ended(id);
  if (flow_error) throw new Error(flow_error);
  if (flow !== "recorded") return;
  const audio = exchange.audio(id);
  if (audio) writeFileSync(given.recording, audio.wav());
  report({ type: "recorded" });
};

process.on("message", (asked: Asked) => {
  if (asked.type === "stall") stall(asked.ms);
  else place(asked);
});
report({ type: "ready" });
