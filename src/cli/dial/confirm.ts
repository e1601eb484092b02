import { createInterface } from "node:readline/promises";
import { exits, Failure, UsageError } from "../command/failure.ts";

/**
 * Asks whether to go on.
 *
 * @throws {UsageError} where nobody can be asked
 * @throws {Failure} when the answer is no, or there is none: an interrupt, or the end of the input
 */
export const confirm = async (question: string, signal: AbortSignal): Promise<void> => {
  if (!process.stdin.isTTY || !process.stderr.isTTY) {
    throw new UsageError("nobody can be asked here: give --yes");
  }
  // The terminal's own lines: ctrl-C stays the signal that it is everywhere else.
  const lines = createInterface({ input: process.stdin, output: process.stderr, terminal: false });
  try {
    const answer = await new Promise<string>((resolve, reject) => {
      const interrupted = new Failure("interrupted: nobody was called", exits.interrupted);
      const onAbort = (): void => reject(interrupted);
      if (signal.aborted) return onAbort();
      signal.addEventListener("abort", onAbort, { once: true });
      lines.once("close", () => resolve(""));
      lines.question(`${question} [y/N] `).then(resolve, reject);
    });
    if (/^y(es)?$/i.test(answer.trim())) return;
  } finally {
    lines.close();
  }
  throw new Failure("you said no: nobody was called", exits.refused);
};
