import { type Command, command } from "../command/command.ts";
import { placingExits } from "./exits.ts";
import { callFlags } from "./flags.ts";

export const call: Command = command({
  name: "call",
  summary: "Places one call.",
  flags: callFlags,
  notes: ["The key is read from OUTDIAL_API_KEY, and from nowhere else."],
  exits: placingExits,
  load: async () => (await import("./run.ts")).run,
});
