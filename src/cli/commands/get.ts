import { get } from "../../calls/get.ts";
import { type Command, defineCommand, exits } from "../command.ts";
import { liveFlags, liveNotes, withLive } from "../live.ts";
import { jsonLine } from "../terminal.ts";

/** `outdial get`: prints a call as one line of JSON. */
export const command: Command = defineCommand({
  args: ["id"],
  flags: liveFlags,
  example: "get cs_01JZQ4N7Y0M3T8V6W2X5A9BCDE",
  notes: liveNotes,
  exits: {
    0: "the call is on stdout, as JSON",
    1: "there is no such call, or it could not be read",
    2: "the command line is wrong; nothing was sent",
  },
  run: async ({ flags, args: [id = ""], env, terminal, ...host }) => {
    const call = await withLive(flags, env, host, (options) => get(id, options));
    await terminal.print(jsonLine(call) ?? "{}");
    return exits.done;
  },
});
