import { createWriteStream } from "node:fs";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { recording } from "../../calls/recording.ts";
import { type Command, defineCommand, exits, Failure } from "../command.ts";
import { liveFlags, liveNotes, withLive } from "../live.ts";
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
  ...liveFlags,
} as const;

/** The chunks of a body. */
async function* chunksOf(body: ReadableStream<Uint8Array>) {
  const reader = body.getReader();
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

/** Writes a recording to a new file, which only its user may read. */
const write = async (body: Response["body"], file: string): Promise<void> => {
  const output = createWriteStream(file, { flags: "wx", mode: 0o600 });
  await pipeline(body ? chunksOf(body) : Readable.from([]), output).catch((error: unknown) => {
    const code = codeOf(error);
    if (!code) throw error;
    throw new Failure(`--output cannot be written (${code})`, exits.refused);
  });
};

/** `outdial recording`: fetches a recording into a file. */
export const command: Command = defineCommand({
  args: ["url"],
  flags,
  notes: liveNotes,
  exits: {
    0: "the recording is in the file",
    1: "there is no recording, or not all of it came",
    2: "the command line is wrong; nothing was sent",
  },
  run: async ({
    flags: { host: hosts = [], output = "", ...given },
    args: [url = ""],
    env,
    ...host
  }) => {
    await withLive(given, env, host, async (options) => {
      const { body } = await recording(url, { ...options, hosts });
      await write(body, output);
    });
    return exits.done;
  },
});
