import { placingExits } from "../call/exits.ts";
import { type Command, command } from "../command/command.ts";
import { triggerFlags } from "./flags.ts";
import { scenarios } from "./scenarios.ts";

const told = Object.entries(scenarios).map(
  ([name, { what }]) => `    ${name.padEnd(12)}   ${what}`,
);

export const trigger: Command = command({
  name: "trigger",
  summary: "Places a call of a chosen scenario on an emulator that runs here, and nowhere else.",
  words: ["scenario"],
  flags: triggerFlags,
  notes: [
    `Scenarios\n${told.join("\n")}`,
    `The key is the emulator's own: the one that it keeps, or OUTDIAL_EMULATOR_KEY. A path instead of a
URL leads to where the emulator forwards to: --flow /flow.`,
  ],
  exits: placingExits,
  load: async () => (await import("./run.ts")).run,
});
