import { type Command, command } from "../command/command.ts";

export const block: Command = command({
  name: "block",
  summary: "Puts numbers on the do-not-call list of a journal, also while it is dialled from.",
  words: ["journal", "number…"],
  flags: {},
  exits: {
    0: "nobody of them will be called again",
    2: "the command line or the journal is wrong",
  },
  load: async () => (await import("./run.ts")).run,
});
