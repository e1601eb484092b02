import { end } from "../../calls/end.ts";
import { type Command, defineCommand, exits } from "../command.ts";
import { liveFlags, liveNotes, withLive } from "../live.ts";

/** `outdial end`: ends a call, and prints nothing. */
export const command: Command = defineCommand({
  args: ["id"],
  flags: liveFlags,
  example: "end cs_01JZQ4N7Y0M3T8V6W2X5A9BCDE",
  notes: ["It may be repeated: a call that has ended already is no failure.", ...liveNotes],
  exits: {
    0: "the call has ended, or ends",
    1: "there is no such call, or it could not be ended",
    2: "the command line is wrong; nothing was sent",
  },
  run: async ({ flags, args: [id = ""], env, ...host }) => {
    await withLive(flags, env, host, (options) => end(id, options));
    return exits.done;
  },
});
