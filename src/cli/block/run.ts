import { BadParametersException } from "../../errors.ts";
import type { Run } from "../command/command.ts";
import { exits, UsageError } from "../command/failure.ts";
import { reader } from "../dial/list/numbers.ts";
import { openExisting } from "../journal/journal.ts";
import { print } from "../terminal/output.ts";

/** `outdial block`: puts numbers on a journal's do-not-call list. */
export const run: Run<Record<never, never>> = async ({ words: [file = "", ...numbers] }) => {
  const read = await reader();
  const ledger = await openExisting(file);
  try {
    // By the spelling that `dial` gives it; a journal of others may have any that is E.164.
    const added = ledger.block(numbers.map((each) => read(each).number ?? each));
    await print(`${added} blocked, ${numbers.length - added} were blocked before`);
    return exits.done;
  } catch (error) {
    if (!(error instanceof BadParametersException)) throw error;
    throw new UsageError("each number must be E.164, and none was blocked");
  }
};
