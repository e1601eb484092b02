import { spawn } from "node:child_process";
import type { Runtime } from "../conformance/case.ts";
import type { Certificates } from "./certificates.ts";

const modules = "test/node_modules";
const main = "test/faults/runtimes/main.ts";
const node = `${modules}/node/bin/node`;

/** The command of each runtime; the server, the runtime and the key to trust follow. */
const commands: Readonly<Record<Runtime, readonly string[]>> = {
  node22: [`${modules}/node22/bin/node`, main],
  node24: [node, main],
  node26: [`${modules}/node26/bin/node`, main],
  deno: [
    `${modules}/.bin/deno`,
    "run",
    "--no-prompt",
    "--allow-net",
    "--config=test/runtimes/deno.json",
    main,
  ],
  bun: [`${modules}/.bin/bun`, main],
  workerd: [node, "test/faults/runtimes/workerd.ts"],
  edge: [node, "test/faults/runtimes/edge.ts"],
  "happy-dom": [node, "node_modules/vitest/vitest.mjs", "run", "--root=test/faults/runtimes"],
  chromium: [node, "test/faults/runtimes/chromium.ts"],
};

export const runtimes = Object.keys(commands) as readonly Runtime[];

/** What a process printed, and how it ended. */
export interface Ended {
  readonly output: string;
  readonly code: number;
}

/** Ends a runtime that hangs, in milliseconds. */
const patience = 600_000;

/** Lets one runtime meet the faults. */
export const launch = (
  runtime: Runtime,
  control: string,
  { authority, spki }: Certificates,
): Promise<Ended> =>
  new Promise((resolve) => {
    const [command = "", ...args] = commands[runtime];
    const own = runtime === "happy-dom" ? [] : [control, runtime, spki];
    const trust = { NODE_EXTRA_CA_CERTS: authority, DENO_CERT: authority };
    const child = spawn(command, [...args, ...own], {
      stdio: ["ignore", "pipe", "pipe"],
      env: { ...process.env, ...trust, CONTROL: control, NO_COLOR: "1" },
    });
    let output = "";
    const print = (chunk: Buffer) => {
      output += chunk;
    };
    child.stdout.on("data", print);
    child.stderr.on("data", print);
    const timer = setTimeout(() => child.kill("SIGKILL"), patience);
    child.on("close", (status) => {
      clearTimeout(timer);
      resolve({ output, code: status ?? 1 });
    });
  });
