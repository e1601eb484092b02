import { type ChildProcess, spawn } from "node:child_process";
import { Miniflare } from "miniflare";
import { bundle } from "../examples/bundle.ts";
import { path } from "../examples/execute.ts";
import { environment, freePort } from "./environment.ts";
import { type Service, until } from "./service.ts";

/** A bridge that listens on this machine. */
export interface RunningBridge {
  readonly url: string;
  readonly close: () => Promise<void>;
}

/** One in workerd, of which another version may be deployed: every isolate goes, what objects keep stays. */
export interface RunningWorker extends RunningBridge {
  readonly deploy: () => Promise<void>;
}

type Env = Readonly<Record<string, string>>;

const isUp = (url: string): Promise<boolean> =>
  fetch(url).then(
    (response) => response.body?.cancel().then(() => response.ok) ?? false,
    () => false,
  );

const ended = (child: ChildProcess): Promise<void> =>
  new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) return resolve();
    child.once("close", () => resolve());
    child.kill();
  });

/** One as a process of its own, with nothing in its environment but what it is given. */
const inProcess =
  (command: string, ...args: readonly string[]) =>
  async (env: Env): Promise<RunningBridge> => {
    const child = spawn(path(command), args, {
      cwd: path("."),
      env: { HOME: process.env.HOME, PATH: process.env.PATH, NO_COLOR: "1", ...env },
      stdio: ["ignore", "inherit", "inherit"],
    });
    const url = String(env.PUBLIC_URL);
    await until(`${command} listens`, () => child.exitCode !== null || isUp(url));
    if (child.exitCode !== null) throw new Error(`${command} ended with ${child.exitCode}`);
    return { url, close: () => ended(child) };
  };

/** What `wrangler.toml` binds: an object for each call and each caller. */
const objects = { OBJECTS: { className: "BridgeObject", useSQLite: true } };

/** One in workerd, as wrangler makes it of its entry: one file, without any Node module. */
export const inWorkerd = (
  entry: string,
  durableObjects = {},
): ((env: Env) => Promise<RunningWorker>) => {
  let script: Promise<string> | undefined;
  return async (env) => {
    script ??= bundle(entry, "esm");
    const options = {
      modules: true,
      script: await script,
      compatibilityDate: "2026-08-01",
      host: "127.0.0.1",
      port: Number(env.PORT),
      bindings: env,
      durableObjects,
    };
    const worker = new Miniflare(options);
    await worker.ready;
    return {
      url: String(env.PUBLIC_URL),
      deploy: () => worker.setOptions({ ...options, bindings: { ...env, VERSION: "2" } }),
      close: () => worker.dispose(),
    };
  };
};

const deno = [
  "run",
  "--no-prompt",
  "--allow-net=127.0.0.1",
  "--allow-env",
  `--config=${path("test/runtimes/deno.json")}`,
  path("examples/bridge/deno.ts"),
];

/** The bridge as it is deployed to Workers. */
export const asWorker = inWorkerd("examples/bridge/worker.ts", objects);

/** The bridge on each platform. */
export const bridges: Readonly<Record<string, (env: Env) => Promise<RunningBridge>>> = {
  workerd: asWorker,
  deno: inProcess("test/node_modules/.bin/deno", ...deno),
  bun: inProcess("test/node_modules/.bin/bun", path("examples/bridge/bun.ts")),
  node: inProcess("test/node_modules/node/bin/node", path("test/bridge/node-server.ts")),
};

export const startBridge = async <Bridge extends RunningBridge>(
  start: (env: Env) => Promise<Bridge>,
  service: Service,
  more: Env = {},
): Promise<Bridge> => start({ ...environment(service, await freePort()), ...more });
