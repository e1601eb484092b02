import { createInterface } from "node:readline/promises";
import { exits, Failure, UsageError } from "../command/failure.ts";

/**
 * Asks whether to go on.
 *
 * @throws {UsageError} where nobody can be asked
 * @throws {Failure} when the answer is no
 */
export const confirm = async (question: string, signal: AbortSignal): Promise<void> => {
  if (!process.stdin.isTTY || !process.stderr.isTTY) {
    throw new UsageError("nobody can be asked here: give --yes");
  }
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const answer = await lines.question(`${question} [y/N] `, { signal });
    if (/^y(es)?$/i.test(answer.trim())) return;
  } finally {
    lines.close();
  }
  throw new Failure("you said no: nobody was called", exits.refused);
};
