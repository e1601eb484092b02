// `npm run demo:list`: the command dials a list of sixty numbers on the emulator, is killed in the middle and
// started again. The exit code is 1 if a number was called twice.
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { serve } from "@hono/node-server";
import { createEmulator } from "outdial/emulator";

const command = fileURLToPath(new URL("../dist/cli/main.js", import.meta.url));

/** The command needs Node 22.13 or later for its ledger; the tests bring one. */
const [major, minor] = process.versions.node.split(".").map(Number);
const isNew = major > 22 || (major === 22 && minor >= 13);
const testNode = fileURLToPath(new URL("../test/node_modules/node/bin/node", import.meta.url));
const node = isNew ? process.execPath : testNode;
if (!isNew && !existsSync(testNode)) {
  console.error(
    `npm run demo:list needs Node 22.13 or later, and this is Node ${process.versions.node}: ` +
      "npx --yes node@24 examples/demo-list.js",
  );
  process.exit(1);
}

const start = performance.now();
const log = (what) => {
  console.log(`${String(Math.round(performance.now() - start)).padStart(5)} ms  ${what}`);
};

/** A free port of this machine. */
const freePort = () =>
  new Promise((resolve) => {
    const probe = createServer().listen(0, "127.0.0.1", () => {
      const { port } = probe.address();
      probe.close(() => resolve(port));
    });
  });

// The service, twenty times as fast as real time. Every seventh number is busy.
const emulator = createEmulator({
  speed: 20,
  onCall: ({ to_number }) => (Number(to_number) % 7 ? undefined : { outcome: "busy" }),
  fetch: (request, init) =>
    request.url.includes("/flow") ? Response.json({ action: "hangup" }) : fetch(request, init),
});
const [servicePort, statusPort] = [await freePort(), await freePort()];
const server = serve({ fetch: emulator.fetch, port: servicePort, hostname: "127.0.0.1" });

const folder = await mkdtemp(join(tmpdir(), "outdial-list-"));
const list = join(folder, "people.csv");
const numbers = Array.from({ length: 60 }, (_, index) => `+1303555${1000 + index}`);
await writeFile(list, `to_number\n${numbers.join("\n")}\n`);

const env = {
  ...process.env,
  OUTDIAL_API_KEY: emulator.apiKey,
  OUTDIAL_BASE_URL: `http://127.0.0.1:${servicePort}`,
  SIGNING_SECRET: crypto.randomUUID(),
};
const args = [
  ...["dial", list, "--from", "+12025550199", "--flow", `http://127.0.0.1:${statusPort}/flow`],
  ...["--listen", `127.0.0.1:${statusPort}`, "--window", "always", "--rate", "30"],
  ...["--settle", "5s", "--no-record", "--yes", "--json"],
];

/** Runs the command. `ended` resolves with its output. */
const dial = () => {
  const child = spawn(node, [command, ...args], {
    env,
    stdio: ["ignore", "pipe", "ignore"],
  });
  let printed = "";
  child.stdout.on("data", (chunk) => {
    printed += chunk;
  });
  return { child, ended: new Promise((resolve) => child.on("close", () => resolve(printed))) };
};

const called = () => emulator.calls.map(({ to_number }) => to_number);
const until = async (condition) => {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 5));
};

log(`outdial dial people.csv: ${numbers.length} contacts, 30 a second`);
const first = dial();
await until(() => called().length >= 20);
first.child.kill("SIGKILL");
await first.ended;
log(`kill -9 after ${called().length} calls`);
log("the same command again resumes");
const { completed, busy, unknown, contacts } = JSON.parse(await dial().ended);
log(`${contacts} contacts: ${completed} completed, ${busy} busy, ${unknown} unknown`);
const twice = called().length - new Set(called()).size;
log(`${called().length} calls at the service, ${twice} of them to a number that was called before`);

server.close();
server.closeAllConnections();
emulator.reset();
await emulator.close();
await rm(folder, { recursive: true });
if (twice > 0 || completed + busy + unknown !== numbers.length) process.exitCode = 1;
