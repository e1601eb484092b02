// `npm run demo`: the emulator and an application on loopback, and one call over HTTP through the built package,
// printed as a timeline. The exit code is 1 if a part is missing.
import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { serve } from "@hono/node-server";
import { Client } from "outdial";
import { callbackHandler, signUrl } from "outdial/callbacks";
import { createEmulator } from "outdial/emulator";
import { flowHandler, play } from "outdial/flows";

const start = performance.now();
const log = (who, what) => {
  const ms = Math.round(performance.now() - start);
  console.log(`${String(ms).padStart(5)} ms  ${who.padEnd(12)} ${what}`);
};

/** Serves a fetch function on a free port of this machine. */
const listen = (fetch) =>
  new Promise((resolve) => {
    const server = serve({ fetch, port: 0, hostname: "127.0.0.1" }, ({ port }) =>
      resolve({ server, url: `http://127.0.0.1:${port}` }),
    );
  });

/** One second of silence: a WAV of 16-bit PCM, 8 kHz, mono. */
const silence = () => {
  const bytes = new DataView(new ArrayBuffer(44 + 16_000));
  const text = (at, word) => {
    for (const [i, letter] of [...word].entries()) bytes.setUint8(at + i, letter.charCodeAt(0));
  };
  text(0, "RIFF");
  bytes.setUint32(4, 36 + 16_000, true);
  text(8, "WAVEfmt ");
  bytes.setUint32(16, 16, true);
  bytes.setUint16(20, 1, true);
  bytes.setUint16(22, 1, true);
  bytes.setUint32(24, 8_000, true);
  bytes.setUint32(28, 16_000, true);
  bytes.setUint16(32, 2, true);
  bytes.setUint16(34, 16, true);
  text(36, "data");
  bytes.setUint32(40, 16_000, true);
  return new Response(bytes.buffer, { headers: { "Content-Type": "audio/wav" } });
};

const secret = crypto.randomUUID();

// The service. Its clock runs ten times as fast, so the demo takes a second.
const emulator = createEmulator({ speed: 10 });
const service = await listen(emulator.fetch);

// The application: it decides what the call does and receives notifications. It fails once on purpose.
const delivered = [];
let failures = 0;
const status = callbackHandler({
  secret,
  webhookSecret: emulator.webhookSecret,
  onEvent: ({ event, context }) => {
    if (event.type === "call.ringing" && failures++ === 0) throw new Error("not now");
    delivered.push(event.type);
    log(
      "application",
      `notified of ${event.type}, order ${context.order}, both signatures verified`,
    );
  },
  onError: () => log("application", "fails once: responds with 500, so the service retries"),
});
const flow = flowHandler({ secret, onAnswer: () => play(`${app.url}/greeting.wav`) });
const routes = { "/status": status, "/flow": flow, "/greeting.wav": silence };
const app = await listen((request) => routes[new URL(request.url).pathname](request));

// Prints the events of the service.
const lines = {
  state: ({ state, reason }) => `call ${state}${reason ? ` (${reason})` : ""}`,
  flow: ({ status: code }) => `flow fetched: HTTP ${code}`,
  action: ({ action, duration }) => duration !== undefined && `${action.action}: ${duration} ms`,
  recording: ({ seconds }) => `recording: ${seconds} s`,
};
const printed = [];
const allPrinted = (async () => {
  for await (const event of emulator) {
    const line = lines[event.type]?.(event);
    if (line) {
      printed.push(line);
      log("service", line);
    }
  }
})();

const client = new Client(emulator.apiKey, { baseUrl: service.url });
const context = { order: 4711 };
log("client", `POST ${service.url}/api/v1/calls/initiate`);
const call = await client.calls.create({
  from_number: "+12025550199",
  to_number: "+12025550100",
  flow_url: await signUrl(`${app.url}/flow`, { secret, context }),
  status_callback_url: await signUrl(`${app.url}/status`, { secret, context }),
});
log("client", `accepted: ${call.id}`);

const record = await emulator.ended(call.id);
const recording = await fetch(record.recording_url);
const file = join(await mkdtemp(join(tmpdir(), "outdial-")), `${call.id}.wav`);
const sound = new Uint8Array(await recording.arrayBuffer());
await writeFile(file, sound);
log("client", `recording written: ${file}, ${sound.length} bytes`);

await emulator.close();
await allPrinted;
service.server.close();
app.server.close();

const attempts = record.history.filter(({ type }) => type === "notification");
const has = (pattern) => printed.some((line) => pattern.test(line));
const parts = {
  "accepted with an id": /^cs_/.test(call.id),
  ringing: has(/^call ringing/),
  answered: has(/^call answered/),
  "flow fetched": has(/^flow fetched: HTTP 200/),
  played: has(/^play: /),
  completed: has(/^call completed \(normal\)/),
  "four notifications, one of them sent twice": attempts.length === 5,
  "all of them delivered and verified, in order":
    delivered.join() === "call.initiated,call.ringing,call.answered,call.completed",
  "recording written": recording.ok && sound.length > 44,
};
const missing = Object.keys(parts).filter((part) => !parts[part]);
if (missing.length > 0) {
  console.error(`Missing: ${missing.join("; ")}`);
  process.exit(1);
}
console.log(`\nOne POST, one call, ${attempts.length} notification requests, all on this machine.`);
