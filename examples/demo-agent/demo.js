// `npm run demo:agent`, offline: the emulator calls somebody who interrupts a scripted agent, which speaks
// OpenAI's protocol over a real WebSocket. The exit code is 1 if a part is missing.
import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "outdial";
import { connectAgent, openaiRealtime, warmAgent } from "outdial/agents";
import { createEmulator } from "outdial/emulator";
import { WebSocket, WebSocketServer } from "ws";
import { startAgent } from "./scripted-agent.js";
import { useTelephone } from "./telephone.js";

const start = performance.now();
const log = (who, what) => {
  const ms = Math.round(performance.now() - start);
  console.log(`${String(ms).padStart(5)} ms  ${who.padEnd(12)} ${what}`);
};

// The agent: a greeting of five seconds, and a response.
let truncated;
const sentences = [
  { hertz: 180, ms: 5000 },
  { hertz: 220, ms: 1200 },
];
const scripted = await startAgent(sentences, (what, ms) => {
  truncated ??= ms;
  log("agent", what);
});
const agent = openaiRealtime({
  apiKey: "sk-none-is-needed",
  url: scripted.url,
  instructions: "Say first that you are a machine and that the call is recorded.",
});

/** Opens the agent's socket with `ws`, because Node 20 has no WebSocket of its own. */
const open = ({ url, headers }) => new WebSocket(url, { headers });

// The application: it connects the agent while the telephone rings.
const warm = warmAgent(agent, { sampleRate: 16_000, open });
const application = new WebSocketServer({ host: "127.0.0.1", port: 0 });
const ended = new Promise((resolve) => {
  application.on("connection", (socket) => {
    const talk = connectAgent(socket, warm, {
      onInterrupted: ({ truncated }) =>
        log("application", `interrupted: ${Math.round(truncated)} ms were not played`),
      onError: (error) => log("application", error),
    });
    talk.ended.then(resolve);
  });
});
await new Promise((resolve) => application.once("listening", resolve));

// When the callee begins and ends to interrupt, in milliseconds since the answer.
const interruption = { from: 0, to: 0 };

// The service, and a callee who interrupts after 1.2 s, listens to the response and hangs up.
const emulator = createEmulator({
  WebSocket,
  ringDuration: 300,
  fetch: ({ url }) =>
    url.endsWith("/flow")
      ? Response.json({
          action: "stream",
          ws_url: `ws://127.0.0.1:${application.address().port}/`,
          sample_rate: "16k",
          chunk_size: 20,
        })
      : new Response(null, { status: 204 }),
  callee: async function* (call) {
    log("callee", "answers, and listens");
    yield { type: "listen", ms: 1200 };
    log("callee", `interrupts, ${Math.round(call.ms)} ms after the answer`);
    interruption.from = call.ms;
    yield { type: "tone", hertz: 300, ms: 600 };
    interruption.to = call.ms;
    log("callee", "listens");
    yield { type: "listen", ms: 1100 };
    yield { type: "silence", ms: 300 };
    log("callee", "hangs up");
    yield { type: "hangup" };
  },
});
const client = new Client(emulator.apiKey, {
  baseUrl: "http://127.0.0.1:1",
  fetch: (url, init) => emulator.fetch(new Request(url, init)),
});
const call = await client.calls.create({
  from_number: "+12025550199",
  to_number: "+12025550100",
  flow_url: "http://127.0.0.1:1/flow",
  status_callback_url: "http://127.0.0.1:1/status",
});
log("client", `accepted: ${call.id}`);

const { reason, metrics } = await ended;
await emulator.ended(call.id);
const audio = emulator.audio(call.id);
const file = join(await mkdtemp(join(tmpdir(), "outdial-")), `${call.id}.wav`);
await writeFile(file, audio.wav());
log("client", `both voices written, the callee left and the agent right: ${file}`);
await emulator.close();
application.close();
scripted.close();

const [cut] = audio.cuts;
const heard = audio.played
  .filter(({ from_ms }) => from_ms < cut?.at_ms)
  .reduce((sum, { samples, sample_rate }) => sum + (samples / sample_rate) * 1000, 0);
// What the callee hears: the agent's loudness, each 10 ms.
const peaks = audio.peaks("application", 10);
const isLoud = (peak) => peak > 0.01;
/** Milliseconds from a time until the agent is, or isn't, loud. */
const until = (from, loud) =>
  peaks.findIndex((peak, at) => at * 10 >= from && isLoud(peak) === loud) * 10 - from;
const { firstAudio, interruptions, messages } = metrics;
const round = (ms) => `${Math.round(ms * 10) / 10} ms`;
console.log(`
from the answer to the first audio             ${round(firstAudio)}
stop: until the interrupted agent is silent    ${round(until(interruption.from, false))}
response: from the callee's last word          ${round(until(interruption.to, true))}
from the interruption to the clear message     ${round(interruptions.slowest)}
played of the interrupted response             ${round(heard)}
the same, as reported to the agent             ${round(truncated)}
late messages                                  ${messages.late} of ${messages.sent}`);

const ends = await useTelephone();

const parts = {
  "keys in a menu": ends.menu === "hung_up",
  "a message on a voicemail": ends.voicemail === "message_left",
  "a quiet callee": ends.quiet === "gave_up",
  "a transfer": ends.transfer === "transferred",
  "hung up by the callee": reason === "hung_up",
  "interrupted once": interruptions.count === 1 && audio.cuts.length === 1,
  "truncated where it was interrupted": truncated > 0,
  "response after the interruption": audio.played.some(({ from_ms }) => from_ms > cut?.at_ms),
};
const missing = Object.keys(parts).filter((part) => !parts[part]);
if (missing.length > 0) {
  console.error(`Missing: ${missing.join("; ")}`);
  process.exit(1);
}
