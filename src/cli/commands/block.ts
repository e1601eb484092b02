import { BadParametersException } from "../../index.ts";
import { type Command, defineCommand, exits, UsageError } from "../command.ts";
import { numberReader } from "../dial/numbers.ts";
import { withLedger } from "../ledger.ts";

/** `outdial block`: adds numbers to the do-not-call list of a ledger. */
export const command: Command = defineCommand({
  args: ["ledger", "number…"],
  flags: {},
  exits: {
    0: "none of them will be called again",
    2: "the command line or the ledger is wrong",
  },
  run: async ({ args: [file = "", ...numbers], terminal }) => {
    const read = await numberReader();
    return withLedger(file, async (ledger) => {
      try {
        // In the spelling of `dial`; the ledger of another program may have any other E.164 number.
        const added = ledger.block(numbers.map((each) => read(each).number ?? each));
        await terminal.print(`${added} blocked, ${numbers.length - added} already blocked`);
        return exits.done;
      } catch (error) {
        if (!(error instanceof BadParametersException)) throw error;
        throw new UsageError("each number must be E.164, and none was blocked");
      }
    });
  },
});
