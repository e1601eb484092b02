import { type Command, command } from "../command/command.ts";
import { emulatorFlags } from "./flags.ts";

export const emulator: Command = command({
  name: "emulator",
  summary: "Runs the whole service on this machine, with a dashboard, until ctrl-C.",
  flags: emulatorFlags,
  notes: [
    `Key and secret stay the same from start to start, in a file that only you can read, or the key is
what OUTDIAL_EMULATOR_KEY says. OUTDIAL_API_KEY is not read: it may be a real one.`,
    `With --forward-to the URLs of a call may be your public ones: the emulator sends what is for them
to that origin, path and query kept, so that signatures hold and no tunnel is needed.`,
  ],
  exits: {
    0: "ended by ctrl-C",
    1: "the port can't be had",
    2: "the command line is wrong",
  },
  load: async () => (await import("./run.ts")).run,
});
