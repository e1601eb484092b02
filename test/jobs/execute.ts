import { spawn } from "node:child_process";

export type Command = readonly [string, ...string[]] | readonly string[];

/** The longest that one job may take, in milliseconds. */
const patience = 480_000;

/** Runs a command to its end, and gives all that it printed and its exit code. */
export const execute = async (
  [command = "", ...args]: Command,
  cwd: string,
  env: Readonly<Record<string, string>>,
): Promise<{ readonly output: string; readonly code: number }> => {
  const child = spawn(command, args, {
    cwd,
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const chunks: Buffer[] = [];
  child.stdout.on("data", (chunk) => chunks.push(chunk));
  child.stderr.on("data", (chunk) => chunks.push(chunk));
  const timer = setTimeout(() => {
    chunks.push(Buffer.from(`\nstopped after ${patience} ms\n`));
    child.kill("SIGKILL");
  }, patience);
  const code = await new Promise<number>((resolve) => {
    child.on("error", (error) => {
      chunks.push(Buffer.from(String(error)));
      resolve(1);
    });
    child.on("close", (status) => resolve(status ?? 1));
  });
  clearTimeout(timer);
  return { output: Buffer.concat(chunks).toString(), code };
};

/** Starts the peer of the conformance cases; it ends with this process, or when told. */
export const startPeer = async (
  node: string,
): Promise<{ readonly url: string; readonly stop: () => void }> => {
  const child = spawn(node, ["test/peer/server.ts"], { stdio: ["pipe", "pipe", "inherit"] });
  const url = await new Promise<string>((resolve, reject) => {
    child.stdout.once("data", (line) => resolve(String(line).trim()));
    child.once("exit", () => reject(new Error("the peer did not start")));
  });
  return { url, stop: () => child.stdin.end() };
};
