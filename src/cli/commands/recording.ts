import { recording } from "../../calls/recording.ts";
import { isException } from "../../index.ts";
import { type Command, defineCommand, exits, Failure } from "../command.ts";
import { liveFlags, liveNotes, withLive } from "../live.ts";
import { writeNew } from "../new-file.ts";
import { codeOf } from "../terminal.ts";

const flags = {
  output: {
    type: "string",
    short: "o",
    required: true,
    value: "file",
    help: "where it is written, also -o; a file that exists is not replaced",
  },
  host: {
    type: "string",
    multiple: true,
    value: "name",
    help: "a further https host, such as your own storage; it gets no key",
  },
  "recording-id": {
    type: "string",
    value: "id",
    help: "of a call: which one, with Twilio and Telnyx; default the latest",
  },
  ...liveFlags,
} as const;

/** @throws {Failure} for an error of the file system */
const unwritable = (error: unknown): never => {
  const code = codeOf(error);
  if (!code || isException(error)) throw error;
  throw new Failure(`--output cannot be written (${code})`, exits.refused);
};

/** `outdial recording`: fetches a recording into a file. */
export const command: Command = defineCommand({
  args: ["url"],
  flags,
  example: "recording https://voice.example/recordings/cs_1.wav --output call.wav",
  notes: liveNotes,
  exits: {
    0: "the recording is in the file",
    1: "there is no recording, or not all of it came: no file is left",
    2: "the command line is wrong; nothing was sent",
  },
  run: async ({
    flags: { host: hosts = [], output = "", "recording-id": recordingId, ...given },
    args: [url = ""],
    env,
    ...host
  }) => {
    await withLive(given, env, host, (options) =>
      writeNew(output, () => recording(url, { ...options, hosts, recordingId })).catch(unwritable),
    );
    return exits.done;
  },
});
