import type { OpenedLedger } from "../../campaigns/index.ts";
import { BadParametersException } from "../../index.ts";
import {
  type Command,
  defineCommand,
  type Exit,
  exits,
  issueLine,
  issuesByFlag,
  UsageError,
} from "../command.ts";
import { numberReader } from "../dial/numbers.ts";
import { signingSecretIn, withLedger } from "../ledger.ts";

const flags = {
  reason: {
    type: "string",
    required: true,
    value: "text",
    help: "why, in a line; it is kept in the ledger",
    sets: "reason",
  },
} as const;

/** `outdial unblock`: takes numbers off the do-not-call list of a ledger. */
export const command: Command = defineCommand({
  args: ["ledger", "number…"],
  flags,
  example: `unblock people.outdial +12025550100 --reason "asked to be called again"`,
  exits: {
    0: "none of them is on the list of the ledger",
    2: "the command line or the ledger is wrong, or one was erased: none was unblocked",
  },
  notes: [
    `A contact that was never called waits again. A number in a file of --do-not-call or --opt-outs, or
in an opt-out column, is blocked again by the next run: take it out there, too.`,
    `Who was erased is not unblocked. Where somebody was, SIGNING_SECRET is needed, which the campaign
has signed its URLs with.`,
  ],
  run: async ({ flags: { reason = "" }, args: [file = "", ...numbers], env, terminal }) => {
    const read = await numberReader();
    const all = numbers.map((each) => read(each).number ?? each);
    const work = async (ledger: OpenedLedger): Promise<Exit> => {
      try {
        const removed = await ledger.unblock(all, reason);
        await terminal.print(`${removed} unblocked, ${all.length - removed} not blocked`);
        return exits.done;
      } catch (error) {
        if (!(error instanceof BadParametersException)) throw error;
        const issues = issuesByFlag(error.issues, flags, { to_number: "each number" });
        throw new UsageError(`${issueLine(issues)}. None was unblocked`);
      }
    };
    return withLedger(file, work, signingSecretIn(env));
  },
});
