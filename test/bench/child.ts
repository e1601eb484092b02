import { spawn } from "node:child_process";
import process from "node:process";
import { createInterface } from "node:readline";

/** A process that answers each line with a line. */
export interface Child {
  /** @throws {Error} with the end of what it printed, when it ends instead of answering */
  readonly ask: <T>(question: unknown) => Promise<T>;
  readonly stop: () => void;
  /** Its first line. */
  readonly said: string;
}

/** How long a child may take for one line, in milliseconds. */
const patience = 120_000;

/** Starts a process, and waits for its first line. */
export const start = async ([command = "", ...args]: readonly string[]): Promise<Child> => {
  const child = spawn(command, args, { stdio: ["pipe", "pipe", "pipe"], env: process.env });
  let complaint = "";
  child.stderr.on("data", (chunk) => {
    complaint = (complaint + chunk).slice(-2000);
  });
  child.stdin.on("error", () => {});
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const next = async (): Promise<string> => {
    const timer = setTimeout(() => child.kill("SIGKILL"), patience);
    const { value, done } = await lines.next();
    clearTimeout(timer);
    if (!done) return value;
    throw new Error(complaint.trim() || `${command} ended without an answer`);
  };
  return {
    said: await next(),
    ask: async (question) => {
      child.stdin.write(`${JSON.stringify(question)}\n`);
      return JSON.parse(await next());
    },
    stop: () => child.stdin.end(),
  };
};

/** Starts a process, and gives its first line and the milliseconds until it came. */
export const firstLine = async (
  command: readonly string[],
): Promise<{ readonly line: string; readonly took: number }> => {
  const began = performance.now();
  const { said, stop } = await start(command);
  const took = performance.now() - began;
  stop();
  return { line: said, took };
};
