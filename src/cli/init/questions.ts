import { homedir } from "node:os";
import { confirm, isCancel, select, text } from "@clack/prompts";
import { exits, Failure } from "../command.ts";
import { isTarget, type TargetName, targets } from "./project.ts";

/** Questions go where no script reads. */
const output = process.stderr;
// Some terminals report 0: each letter would get a line of its own.
output.columns ||= 80;
output.rows ||= 24;

/** For a question that was left by ctrl-C or escape. */
const canceled = (): Failure => new Failure("canceled: nothing was written", exits.interrupted);

/**
 * Asks where the project goes.
 *
 * @throws {Failure} if it is canceled
 */
export const askFolder = async (signal: AbortSignal): Promise<string> => {
  const calls = { placeholder: "calls", defaultValue: "calls" };
  const answer = await text({ message: "In which folder?", ...calls, output, signal });
  if (isCancel(answer)) throw canceled();
  // No shell has seen the answer: spaces around it are a slip, and ~ is a habit.
  return answer.trim().replace(/^~(?=\/|$)/, homedir()) || "calls";
};

/**
 * Asks where the project will run.
 *
 * @throws {Failure} if it is canceled
 */
export const askTarget = async (signal: AbortSignal): Promise<TargetName> => {
  const names = Object.keys(targets).filter(isTarget);
  const options = names.map((value) => ({ value, label: targets[value].label }));
  const answer = await select({ message: "Where will it run?", options, output, signal });
  if (isCancel(answer)) throw canceled();
  return answer;
};

/**
 * Asks whether files may be replaced; no by default.
 *
 * @throws {Failure} if it is canceled
 */
export const askOverwrite = async (
  files: readonly string[],
  signal: AbortSignal,
): Promise<boolean> => {
  const message = `${files.join(", ")} ${files.length > 1 ? "exist" : "exists"}. Overwrite?`;
  const answer = await confirm({ message, initialValue: false, output, signal });
  if (isCancel(answer)) throw canceled();
  return answer;
};
