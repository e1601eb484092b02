// The runtimes, and the processes that run in them: each answers the launcher line by line.
import { spawn } from "node:child_process";
import process from "node:process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { Miniflare } from "miniflare";

/** A runtime, and how it runs a file. */
export interface Runtime {
  readonly name: "node" | "deno" | "bun";
  readonly label: string;
  readonly command: readonly string[];
  /** With garbage collection on request. */
  readonly withGc: readonly string[];
  /** Without a collection while bytes are counted; absent where the runtime can't count. */
  readonly withoutCollections?: readonly string[];
}

const test = fileURLToPath(new URL("../", import.meta.url));
const bin = `${test}node_modules/.bin`;
const nodePath = `${test}node_modules/node/bin/node`;
const deno = [
  `${bin}/deno`,
  "run",
  "--quiet",
  "--no-prompt",
  "-A",
  `--config=${test}bench/deno.json`,
];
const v8 = ["--expose-gc", "--min-semi-space-size=256", "--max-semi-space-size=256"];

export const node: Runtime = {
  name: "node",
  label: "Node 24",
  command: [nodePath],
  withGc: [nodePath, "--expose-gc"],
  withoutCollections: [nodePath, ...v8],
};

export const runtimes: readonly Runtime[] = [
  node,
  {
    name: "deno",
    label: "Deno",
    command: deno,
    withGc: [...deno, "--v8-flags=--expose-gc"],
    withoutCollections: [...deno, `--v8-flags=${v8.join()}`],
  },
  { name: "bun", label: "Bun", command: [`${bin}/bun`], withGc: [`${bin}/bun`] },
];

/** A process that answers each line with a line. */
export interface Child {
  /** @throws {Error} with the end of what it printed, when it ends instead of answering */
  readonly ask: <T>(question: unknown) => Promise<T>;
  readonly stop: () => void;
  readonly firstLine: string;
}

/** The most that a child may take for one line, in milliseconds. */
const timeout = 600_000;

/** Starts a process, and waits for its first line. */
export const start = async ([command = "", ...args]: readonly string[]): Promise<Child> => {
  const child = spawn(command, args, { stdio: ["pipe", "pipe", "pipe"], env: process.env });
  let errors = "";
  child.stderr.on("data", (chunk) => {
    errors = (errors + chunk).slice(-2000);
  });
  child.stdin.on("error", () => {});
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const next = async (): Promise<string> => {
    const timer = setTimeout(() => child.kill("SIGKILL"), timeout);
    const { value, done } = await lines.next();
    clearTimeout(timer);
    if (!done) return value;
    throw new Error(errors.trim() || `${command} ended without an answer`);
  };
  return {
    firstLine: await next(),
    ask: async (question) => {
      child.stdin.write(`${JSON.stringify(question)}\n`);
      return JSON.parse(await next());
    },
    stop: () => child.stdin.end(),
  };
};

/** Runs a process until its first line, and measures the milliseconds until that. */
export const runToFirstLine = async (
  command: readonly string[],
): Promise<{ readonly line: string; readonly took: number }> => {
  const began = performance.now();
  const { firstLine, stop } = await start(command);
  const took = performance.now() - began;
  stop();
  return { line: firstLine, took };
};

/** Whether a program has printed the id of a call, and no error. */
export const isId = (text: string): boolean => /^[\w:-]{20,64}$/.test(text);

/** Makes Workers, each in an isolate of its own, in one workerd. */
export interface Isolates {
  /** Makes a Worker of a script, and resolves with the text of its first response. */
  readonly run: (code: string) => Promise<string>;
  readonly stop: () => Promise<void>;
}

const compatibilityDate = "2026-08-01";

/** A Worker that makes another for each request, of the script in the body. */
const host = `
  let made = 0;
  export default {
    async fetch(request, { LOADER }) {
      const code = await request.text();
      const worker = LOADER.get(String(made++), () => ({
        compatibilityDate: "${compatibilityDate}",
        mainModule: "worker.js",
        modules: { "worker.js": code },
      }));
      try {
        return await worker.getEntrypoint().fetch("https://worker.test/");
      } catch (error) {
        return new Response(String(error));
      }
    },
  };`;

/** Starts a workerd, without `nodejs_compat`. */
export const startIsolates = async (): Promise<Isolates> => {
  const miniflare = new Miniflare({
    modules: true,
    script: host,
    compatibilityDate,
    workerLoaders: { LOADER: {} },
  });
  const url = await miniflare.ready;
  return {
    run: async (body) => (await fetch(url, { method: "POST", body })).text(),
    stop: () => miniflare.dispose(),
  };
};
