import { type Command, command } from "../command/command.ts";
import { emulatorFlags } from "./flags.ts";

export const emulator: Command = command({
  name: "emulator",
  summary: "Runs the whole service on this machine, with a dashboard, until ctrl-C.",
  flags: emulatorFlags,
  exits: {
    0: "ended by ctrl-C",
    1: "the port can't be had",
    2: "the command line is wrong",
  },
  load: async () => (await import("./run.ts")).run,
});
