import { type Command, command } from "../command/command.ts";
import { dialFlags } from "./flags.ts";

export const dial: Command = command({
  name: "dial",
  summary: "Calls every contact of a list, each at most once an attempt.",
  words: ["list.csv"],
  flags: dialFlags,
  notes: [
    `The list is a CSV file with a column to_number (or number, phone, phone_number, contact_number),
and if you like id and timezone; every other column is a variable.`,
    `A number is digits in groups and nothing else, such as +49 30 123456-0; any other row is refused.`,
    `The same command again goes on where it was, whatever ended it. Ctrl-C stops dialling and waits
for the calls that live. Who is no longer in the list is not called any more.`,
    `Beside the journal are its files -wal and -lock: they belong to it. Move all of them together, while
nothing dials.`,
    `The key is read from OUTDIAL_API_KEY, and what the URLs are signed with from OUTDIAL_SECRET (16
characters or more, the same for the whole campaign).`,
    `Who calls lists has duties: hours, consent, do-not-call lists, to say that a call is recorded and
that a machine speaks.`,
  ],
  exits: {
    0: "every contact has a known end",
    1: "paused: the service refuses every call, or --dnc can't be read any more; or you said no",
    2: "the command line, the list or the journal is wrong, or the journal is in use",
    3: "some contacts are unknown: they may have been called",
    130: "interrupted; the same command goes on",
  },
  load: async () => (await import("./run.ts")).run,
});
