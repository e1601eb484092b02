import { homedir } from "node:os";
import { confirm, select, text } from "@clack/prompts";
import { exits, Failure } from "../command.ts";
import { isTarget, type TargetName, targets } from "./project.ts";

/** Questions go where no script reads. */
export const output: NodeJS.WriteStream = process.stderr;
// Some terminals report 0: each letter would get a line of its own.
output.columns ||= 80;
output.rows ||= 24;

/**
 * Asks a question, until it is answered or left by ctrl-C, escape, a signal, or ctrl-D: that ends the input, and a
 * question without input would never end.
 *
 * @throws {Failure} if it is left
 */
export const ask = async <T extends string | boolean>(
  signal: AbortSignal,
  question: (signal: AbortSignal) => Promise<T | symbol>,
): Promise<T> => {
  const ended = new AbortController();
  const onKey = (_: unknown, key?: { readonly ctrl?: boolean; readonly name?: string }): void => {
    if (key?.ctrl && key.name === "d") ended.abort();
  };
  process.stdin.on("keypress", onKey);
  try {
    const answer = await question(AbortSignal.any([signal, ended.signal]));
    if (typeof answer === "symbol")
      throw new Failure("canceled: nothing was written", exits.interrupted);
    return answer;
  } finally {
    process.stdin.off("keypress", onKey);
  }
};

/**
 * Asks where the project goes.
 *
 * @throws {Failure} if it is canceled
 */
export const askFolder = async (signal: AbortSignal): Promise<string> => {
  const calls = { placeholder: "calls", defaultValue: "calls" };
  const answer = await ask<string>(signal, (signal) =>
    text({ message: "In which folder?", ...calls, output, signal }),
  );
  // No shell has seen the answer: spaces around it are a slip, and ~ is a habit.
  return answer.trim().replace(/^~(?=\/|$)/, homedir()) || "calls";
};

/**
 * Asks where the project will run.
 *
 * @throws {Failure} if it is canceled
 */
export const askTarget = (
  possible: readonly string[],
  signal: AbortSignal,
): Promise<TargetName> => {
  const names = possible.filter(isTarget);
  const options = names.map((value) => ({ value, label: targets[value].label }));
  return ask<TargetName>(signal, (signal) =>
    select({ message: "Where will it run?", options, output, signal }),
  );
};

/**
 * Asks whether files may be replaced; no by default.
 *
 * @throws {Failure} if it is canceled
 */
export const askOverwrite = (files: readonly string[], signal: AbortSignal): Promise<boolean> => {
  const message = `${files.join(", ")} ${files.length > 1 ? "exist" : "exists"}. Overwrite?`;
  return ask<boolean>(signal, (signal) =>
    confirm({ message, initialValue: false, output, signal }),
  );
};
