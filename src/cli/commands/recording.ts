import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { rm } from "node:fs/promises";
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

/** @throws {Failure} for an error of the file system */
const unwritable = (error: unknown): never => {
  const code = codeOf(error);
  if (!code) throw error;
  throw new Failure(`--output cannot be written (${code})`, exits.refused);
};

/** Fills a new file, which only its user may read, and which stays only if all of it came. */
const write = async (file: string, source: () => Promise<Response["body"]>): Promise<void> => {
  const output = createWriteStream(file, { flags: "wx", mode: 0o600 });
  // Before anything is sent: a file that exists is not replaced.
  await once(output, "open").catch(unwritable);
  let isWhole = false;
  try {
    const body = await source();
    await pipeline(body ? chunksOf(body) : Readable.from([]), output).catch(unwritable);
    isWhole = true;
  } finally {
    output.destroy();
    if (!isWhole) await rm(file, { force: true });
  }
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
    flags: { host: hosts = [], output = "", ...given },
    args: [url = ""],
    env,
    ...host
  }) => {
    await withLive(given, env, host, (options) =>
      write(output, async () => (await recording(url, { ...options, hosts })).body),
    );
    return exits.done;
  },
});
