import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { Miniflare } from "miniflare";
import { bundle } from "../../examples/bundle.ts";
import { path } from "../../examples/execute.ts";
import { printWithTest } from "../../output.ts";
import type { State } from "./line.ts";

/** The application that puts agents on lines, on one of the runtimes. */
export interface Application {
  readonly url: string;
  readonly state: () => Promise<State>;
  /** Takes no more calls, and waits until it ends by itself; whether it did so, well. */
  readonly stop: () => Promise<boolean>;
  readonly kill: () => Promise<unknown>;
}

const stateAt = async (url: string): Promise<State> => (await fetch(url)).json();

const inProcess =
  (command: string, ...args: readonly string[]) =>
  async (): Promise<Application> => {
    const child = spawn(path(command), args, { stdio: ["ignore", "pipe", "pipe"] });
    printWithTest(child.stderr);
    const ended = once(child, "exit");
    const [port] = await once(createInterface(child.stdout), "line");
    const url = `http://127.0.0.1:${port}/`;
    return {
      url,
      state: () => stateAt(url),
      stop: async () => {
        await stateAt(`${url}stop`);
        return (await ended)[0] === 0;
      },
      kill: async () => child.kill("SIGKILL"),
    };
  };

const inWorkerd = async (): Promise<Application> => {
  const worker = new Miniflare({
    modules: true,
    script: await bundle("test/agents/runtimes/worker.ts", "esm"),
    compatibilityDate: "2026-08-01",
    host: "127.0.0.1",
  });
  const url = String(await worker.ready);
  let disposed: Promise<void> | undefined;
  const kill = () => {
    disposed ??= worker.dispose();
    return disposed;
  };
  return { url, state: () => stateAt(url), stop: () => kill().then(() => true), kill };
};

const bin = "test/node_modules/.bin";
const file = (name: string) => path(`test/agents/runtimes/${name}.ts`);

/** Each runtime that can take a WebSocket. */
export const starts = {
  node: inProcess("test/node_modules/node/bin/node", file("node")),
  deno: inProcess(
    `${bin}/deno`,
    "run",
    "--no-prompt",
    "--allow-net=127.0.0.1",
    `--config=${path("test/runtimes/deno.json")}`,
    file("deno"),
  ),
  bun: inProcess(`${bin}/bun`, file("bun")),
  workerd: inWorkerd,
} as const;
