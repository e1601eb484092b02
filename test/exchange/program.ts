import { spawn } from "node:child_process";
import { mkdirSync, symlinkSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { createServer } from "node:net";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { type Handler, serveNode } from "../../src/cli/serve.ts";
import { path } from "../examples/execute.ts";

/** A port that nobody listens on. */
export const freePort = (): Promise<number> =>
  new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });

/** Serves an application until the test is over, and returns its origin. */
export const serveProgram = async (handler: Handler): Promise<string> => {
  const { port, stop } = await serveNode(handler, { hostname: "127.0.0.1", port: 0 });
  onTestFinished(stop);
  return `http://127.0.0.1:${port}`;
};

/** Puts what a project of `outdial init` imports where npm would install it. */
export const installPackages = (folder: string): void => {
  mkdirSync(join(folder, "node_modules/@hono"), { recursive: true });
  const packages = { outdial: ".", hono: "node_modules/hono" };
  const all = { ...packages, "@hono/node-server": "node_modules/@hono/node-server" };
  for (const [name, from] of Object.entries(all)) {
    symlinkSync(path(from), join(folder, "node_modules", name));
  }
};

/** A program that runs until the test is over. */
export interface Program {
  /** What it has printed. */
  readonly printed: () => string;
}

/** Starts a module under Node, in its folder, with these settings alone. */
export const startProgram = (
  folder: string,
  module: string,
  settings: Readonly<Record<string, string>>,
): Program => {
  const { PATH = "", HOME = "" } = process.env;
  const child = spawn(path("test/node_modules/node/bin/node"), [module], {
    cwd: folder,
    env: { PATH, HOME, ...settings },
    stdio: ["ignore", "pipe", "pipe"],
  });
  onTestFinished(
    () =>
      new Promise((resolve) => {
        child.once("close", () => resolve());
        child.kill("SIGKILL");
      }),
  );
  let text = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (chunk) => {
      text += chunk;
    });
  }
  const printed = (): string => {
    if (child.exitCode !== null) throw new Error(`${module} has ended: ${text}`);
    return text;
  };
  return { printed };
};
