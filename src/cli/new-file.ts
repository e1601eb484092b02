import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { access, link, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { codeOf } from "./terminal.ts";

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

/** Whether there is a file, or a folder, of that name. */
export const isThere = (file: string): Promise<boolean> =>
  access(file).then(
    () => true,
    () => false,
  );

/** The error of the system for a file that is there already. */
const exists = (): Error => Object.assign(new Error("the file exists"), { code: "EEXIST" });

/** Gives a whole file its name, unless there is one of that name. */
const nameIt = async (part: string, file: string): Promise<void> => {
  try {
    await link(part, file);
  } catch (error) {
    if (codeOf(error) === "EEXIST") throw error;
    // A file system without hard links, such as exFAT.
    if (await isThere(file)) throw exists();
    return rename(part, file);
  }
  await rm(part);
};

/** Where a file is until all of it has come. */
export const partOf = (file: string): string => join(dirname(file), `.${basename(file)}.part`);

/**
 * Makes a file that only its user may read, of what comes. It has its name once all of it has come; a file that is there is
 * not replaced.
 *
 * @param source - called once the file can be written
 * @param name - the file's path, when `source` has returned: by default the one that was given
 * @throws the system's error, or what `source` or its body throws: no file is left then
 */
export const writeNew = async <T extends { readonly body: Response["body"] }>(
  file: string,
  source: () => Promise<T>,
  name: (response: T) => string = () => file,
): Promise<string> => {
  if (await isThere(file)) throw exists();
  const part = partOf(file);
  // A process that was killed may have left it.
  await rm(part, { force: true });
  const output = createWriteStream(part, { flags: "wx", mode: 0o600 });
  try {
    await once(output, "open");
    const response = await source();
    const { body } = response;
    await pipeline(body ? chunksOf(body) : Readable.from([]), output);
    const path = name(response);
    await nameIt(part, path);
    return path;
  } finally {
    output.destroy();
    await rm(part, { force: true });
  }
};
