import { type Command, command } from "../command/command.ts";

export const results: Command = command({
  name: "results",
  summary: "Prints what became of each contact of a journal, as CSV.",
  words: ["journal"],
  flags: {},
  notes: ["A contact that waits or is being called has no disposition yet. It works during a run."],
  exits: {
    0: "all is printed",
    1: "not all could be written",
    2: "the command line or the journal is wrong",
  },
  load: async () => (await import("./run.ts")).run,
});
