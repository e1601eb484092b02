import { why } from "../../calls/why.ts";
import { type Command, defineCommand, exits } from "../command.ts";
import { liveFlags, liveNotes, withLive } from "../live.ts";
import { jsonLine } from "../terminal.ts";

/** `outdial why`: prints why a call ended as it did. */
export const command: Command = defineCommand({
  args: ["id"],
  flags: {
    ...liveFlags,
    json: { type: "boolean", help: "one line of JSON on stdout, and errors so on stderr" },
  },
  example: "why cs_01JZQ4N7Y0M3T8V6W2X5A9BCDE",
  notes: [
    `The state and the reason, what the service says went wrong, and the next step. It has
no telephone numbers, texts and URLs: it can be shown to others. Twilio has a call's
errors some seconds after the call.`,
    ...liveNotes,
  ],
  exits: {
    0: "what the service says of the call is on stdout, whether it failed or not",
    1: "there is no such call, or it could not be read",
    2: "the command line is wrong; nothing was sent",
  },
  run: async ({ flags, args: [id = ""], env, terminal, ...host }) => {
    const { json } = flags;
    const found = await withLive(flags, env, host, (options) => why(id, options));
    const { state, reason, causes, explanation } = found;
    const lines = [
      reason ? `${state} (${reason})` : state,
      ...causes.map(({ level, code, text, link }) =>
        [`${level}:`, code, text, link].filter(Boolean).join(" "),
      ),
      explanation,
    ];
    await terminal.print(json ? (jsonLine(found) ?? "{}") : lines.join("\n"));
    return exits.done;
  },
});
