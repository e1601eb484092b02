import { BadParametersException } from "../../errors.ts";
import type { Run } from "../command/command.ts";
import { exits, UsageError } from "../command/failure.ts";
import { openExisting } from "../journal/journal.ts";
import { print } from "../terminal/output.ts";

/** `outdial block`: puts numbers on a journal's do-not-call list. */
export const run: Run<Record<never, never>> = async ({ words: [file = "", ...numbers] }) => {
  const ledger = await openExisting(file);
  try {
    const added = ledger.block(numbers);
    await print(`${added} blocked, ${numbers.length - added} were blocked before`);
    return exits.done;
  } catch (error) {
    if (!(error instanceof BadParametersException)) throw error;
    throw new UsageError("each number must be E.164, and none was blocked");
  }
};
