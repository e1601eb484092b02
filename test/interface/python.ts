import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { path } from "../examples/execute.ts";

/** Why the programs in Python can't be run, if they can't. */
export const missingPython: string | undefined =
  spawnSync("python3", ["--version"]).status === 0 ? undefined : "python3 is not on this machine";

/** A server of examples/direct-http. */
export interface PythonServer {
  readonly url: string;
  /** What it has printed since, a line each. */
  readonly lines: readonly string[];
  readonly stop: () => Promise<void>;
}

/** Starts a server, which prints its URL first. */
export const startPython = async (
  file: string,
  env: Readonly<Record<string, string>>,
): Promise<PythonServer> => {
  const child: ChildProcess = spawn("python3", [path(`examples/direct-http/${file}`)], {
    env: { PATH: process.env.PATH, PYTHONDONTWRITEBYTECODE: "1", ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  if (!child.stdout) throw new TypeError("has no output");
  const lines: string[] = [];
  const output = createInterface(child.stdout);
  const ended = once(child, "exit");
  const [url] = await Promise.race([
    once(output, "line"),
    ended.then(([code]) => Promise.reject(new Error(`${file} ended with ${code}`))),
  ]);
  output.on("line", (line) => lines.push(line));
  return {
    url,
    lines,
    stop: async () => {
      child.kill();
      await ended;
    },
  };
};
