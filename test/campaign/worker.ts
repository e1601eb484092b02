import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";
import { startFront } from "../bridge/front.ts";
import { path } from "../examples/execute.ts";
import { printWithTest } from "../output.ts";

export const token = "the-token-of-one-caller-0123456789";
export const stranger = "the-token-of-another-one-0123456789";

/** The example on workerd: in a process of its own, so that it can be killed. */
export interface Worker {
  readonly url: string;
  /** Asks it as a caller. */
  readonly ask: (method: string, path: string, body?: unknown, whose?: string) => Promise<Response>;
  /** Ends the whole runtime at once, as a power cut would. */
  readonly kill: () => Promise<void>;
  /** Starts it again, out of what it has stored. */
  readonly start: () => Promise<void>;
  readonly close: () => Promise<void>;
}

interface Service {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly webhookSecret?: string;
}

type Variables = Readonly<Record<string, string>>;

const environment = (
  { baseUrl, apiKey, webhookSecret = "" }: Service,
  url: string,
  more: Variables,
): Variables => {
  const caller = { prefixes: ["+1"], rate: 5_000, per_day: 1_000_000, campaigns: 100 };
  return {
    OUTDIAL_API_KEY: apiKey,
    OUTDIAL_BASE_URL: baseUrl,
    WEBHOOK_SECRET: webhookSecret,
    FROM_NUMBER: "+12025550199",
    PUBLIC_URL: url,
    SIGNING_SECRET: "a-secret-of-the-campaigns-for-these-tests-only",
    CALLERS: JSON.stringify({
      one: { ...caller, token },
      another: { ...caller, token: stranger, prefixes: ["+1202555"], rate: 5, campaigns: 1 },
    }),
    ...more,
  };
};

/** As wrangler makes it: what Workers have of Node stays outside. */
const bundle = async (outfile: string): Promise<void> => {
  const page = (name: string) => path(`examples/campaign/page/${name}`);
  await build({
    entryPoints: [page("main.ts"), page("main.css")],
    bundle: true,
    minify: true,
    outdir: page("built"),
    outExtension: { ".js": ".js.txt", ".css": ".css.txt" },
    logLevel: "error",
  });
  await build({
    entryPoints: [path("examples/campaign/worker.ts")],
    bundle: true,
    outfile,
    format: "esm",
    platform: "neutral",
    external: ["node:*"],
    conditions: ["workerd", "worker", "browser"],
    mainFields: ["module", "main"],
    target: "es2022",
    logLevel: "error",
  });
};

const ended = (child: ChildProcess): Promise<void> =>
  new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) return resolve();
    child.once("close", () => resolve());
  });

export const startWorker = async (service: Service, more: Variables = {}): Promise<Worker> => {
  const folder = mkdtempSync(join(tmpdir(), "outdial-campaign-"));
  const script = join(folder, "worker.js");
  await bundle(script);
  // The Worker's own port differs after each start, and the URLs that it has signed stay.
  const front = await startFront();
  const { url } = front;
  const env = {
    PATH: process.env.PATH,
    WORKER_ENV: JSON.stringify(environment(service, url, more)),
  };
  let child: ChildProcess | undefined;
  const start = (): Promise<void> =>
    new Promise((resolve, reject) => {
      const args = [path("test/campaign/runtime.ts"), join(folder, "state"), script];
      // A group of its own: the runtime is a process below this one.
      const started = spawn(process.execPath, args, {
        env,
        detached: true,
        stdio: "pipe",
      });
      printWithTest(started.stderr);
      child = started;
      started.stdout.once("data", (port) => {
        front.forwardTo(Number(port));
        resolve();
      });
      started.once("exit", (code) => reject(new Error(`The runtime has ended with ${code}`)));
    });
  const kill = async (): Promise<void> => {
    const { pid } = child ?? {};
    if (!child || pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
    front.forwardTo(undefined);
    process.kill(-pid, "SIGKILL");
    await ended(child);
  };
  await start();
  return {
    url,
    ask: (method, where, body, whose = token) =>
      fetch(url + where, {
        method,
        // workerd closes an idle connection after 5 s, with a request on it if this process is slow.
        headers: { authorization: `Bearer ${whose}`, connection: "close" },
        ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
      }),
    kill,
    start,
    close: async () => {
      await kill();
      await front.close();
      rmSync(folder, { recursive: true });
    },
  };
};
