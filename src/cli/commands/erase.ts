import type { OpenedLedger } from "../../campaigns/index.ts";
import { BadParametersException } from "../../index.ts";
import { type Command, defineCommand, type Exit, exits, UsageError } from "../command.ts";
import { numberReader } from "../dial/numbers.ts";
import { signingSecretIn, withLedger } from "../ledger.ts";

/** `outdial erase`: deletes the data of people from a ledger. */
export const command: Command = defineCommand({
  args: ["ledger", "number…"],
  example: "erase people.outdial +12025550100",
  flags: {},
  exits: {
    0: "nothing of them is in the ledger, and none of them will be called again",
    2: "the command line or the ledger is wrong",
  },
  notes: [
    `No byte of number, id, variables and answers stays in the file; how a call ended is still counted.
An HMAC of the number by SIGNING_SECRET, which the campaign has signed its URLs with, keeps it from
being called again. It works while the list is dialled.`,
    `The list, a file of --do-not-call or --opt-outs, and results that were written before still have
the number: take it out there, too. Each number of a person is erased by itself.`,
  ],
  run: async ({ args: [file = "", ...numbers], env, terminal }) => {
    const options = signingSecretIn(env);
    if (options.secret === undefined) {
      throw new UsageError("SIGNING_SECRET is not set: that of the campaign marks who was erased");
    }
    const read = await numberReader();
    const all = numbers.map((each) => read(each).number ?? each);
    const erase = async (ledger: OpenedLedger): Promise<Exit> => {
      try {
        const erased = await ledger.erase(all);
        const others = all.length - erased;
        await terminal.print(
          `${erased} erased${others > 0 ? `, ${others} not in the ledger: marked, and never called` : ""}`,
        );
        return exits.done;
      } catch (error) {
        if (!(error instanceof BadParametersException)) throw error;
        throw new UsageError("each number must be E.164, and none was erased");
      }
    };
    return withLedger(file, erase, options);
  },
});
