import type { Ledger } from "../../campaigns/index.ts";
import { BadParametersException } from "../../index.ts";
import { type Command, defineCommand, type Exit, exits, UsageError } from "../command.ts";
import { numberReader } from "../dial/numbers.ts";
import { signingSecretIn, withLedger } from "../ledger.ts";

/** `outdial block`: adds numbers to the do-not-call list of a ledger. */
export const command: Command = defineCommand({
  args: ["ledger", "number…"],
  flags: {},
  example: "block people.outdial +12025550100",
  exits: {
    0: "none of them will be called again",
    2: "the command line or the ledger is wrong",
  },
  notes: [
    `With SIGNING_SECRET, which the campaign has signed its URLs with, a number that was erased from the
ledger is not written into it again; it is blocked already.`,
  ],
  run: async ({ args: [file = "", ...numbers], env, terminal }) => {
    const read = await numberReader();
    const secrets = signingSecretIn(env);
    const block = async (ledger: Ledger): Promise<Exit> => {
      try {
        // In the spelling of `dial`; the ledger of another program may have any other E.164 number.
        const added = await ledger.block(numbers.map((each) => read(each).number ?? each));
        await terminal.print(`${added} blocked, ${numbers.length - added} already blocked`);
        return exits.done;
      } catch (error) {
        if (!(error instanceof BadParametersException)) throw error;
        throw new UsageError("each number must be E.164, and none was blocked");
      }
    };
    return withLedger(file, block, secrets);
  },
});
