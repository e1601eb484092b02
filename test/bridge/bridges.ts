import { type ChildProcess, spawn } from "node:child_process";
import { Miniflare } from "miniflare";
import { WebSocket } from "ws";
import { bundle } from "../examples/bundle.ts";
import { path } from "../examples/execute.ts";
import { printWithTest } from "../output.ts";
import { startFront } from "./front.ts";

/** A bridge that listens on this machine. */
export interface RunningBridge {
  readonly url: string;
  readonly close: () => Promise<void>;
}

/** A bridge in workerd. A deploy ends every isolate; what objects have stored stays. */
export interface RunningWorker extends RunningBridge {
  readonly deploy: () => Promise<void>;
}

type Env = Readonly<Record<string, string>>;

const exited = (child: ChildProcess): Promise<void> =>
  new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) return resolve();
    child.once("close", () => resolve());
    child.kill();
  });

/** Starts an entry in a process of its own, with nothing in its environment but what it is given. */
const inProcess =
  (command: string, ...args: readonly string[]) =>
  async (env: Env): Promise<RunningBridge> => {
    const child = spawn(path(command), args, {
      cwd: path("."),
      env: { HOME: process.env.HOME, PATH: process.env.PATH, NO_COLOR: "1", ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    printWithTest(child.stderr);
    let output = "";
    for await (const chunk of child.stdout.iterator({ destroyOnReturn: false })) {
      output += chunk;
      const [, url] = /listens on (http:\S+)\n/.exec(output) ?? [];
      if (url) return { url, close: () => exited(child) };
    }
    throw new Error(`${command} ended with ${child.exitCode}`);
  };

let script: Promise<string> | undefined;

/** Starts the Worker as wrangler deploys it: one file, without any Node module. */
export const startWorker = async (env: Env): Promise<RunningWorker> => {
  script ??= bundle("examples/bridge/worker.ts", "esm");
  const front = await startFront();
  const options = {
    modules: true,
    script: await script,
    compatibilityDate: "2026-08-01",
    host: "127.0.0.1",
    port: 0,
    bindings: { ...env, PUBLIC_URL: front.url },
    durableObjects: { BRIDGE: { className: "Bridge", useSQLite: true } },
  };
  const worker = new Miniflare(options);
  front.forwardTo(Number((await worker.ready).port));
  return {
    url: front.url,
    deploy: async () => {
      await worker.setOptions({ ...options, bindings: { ...options.bindings, VERSION: "2" } });
      front.forwardTo(Number((await worker.ready).port));
    },
    close: async () => {
      await worker.dispose();
      await front.close();
    },
  };
};

const deno = [
  ...["run", "--no-prompt", "--allow-net=127.0.0.1", "--allow-env"],
  `--config=${path("test/runtimes/deno.json")}`,
  path("examples/bridge/deno.ts"),
];

/** The bridge on each runtime. */
export const bridges: Readonly<Record<string, (env: Env) => Promise<RunningBridge>>> = {
  workerd: startWorker,
  deno: inProcess("test/node_modules/.bin/deno", ...deno),
  bun: inProcess("test/node_modules/.bin/bun", path("examples/bridge/bun.ts")),
  node: inProcess("test/node_modules/node/bin/node", path("examples/bridge/node.ts")),
};

/** The status of the response to a request for a socket. */
export const upgrade = (url: string): Promise<number | undefined> =>
  new Promise((resolve, reject) => {
    const socket = new WebSocket(url);
    socket.on("unexpected-response", (_, { statusCode }) => resolve(statusCode));
    socket.on("upgrade", () => resolve(101));
    socket.on("error", reject);
  });
