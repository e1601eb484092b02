import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";

/** The fields of a line as Asterisk's `cel_custom` writes it, of `CHAN_START` alone, in a file of its own. */
export const channelLogLine: string = ["eventtype", "CHANNEL(uniqueid)", "CHANNEL(channame)"]
  .map((field) => `\${${field}}`)
  .join(",");

/** The beginning of a fence's name. */
export const fencePrefix = "Local/";

/** How long the fences' own lines may take, and how often they are looked for, in milliseconds. */
const writeTimeout = 3_000;
const interval = 50;

/** Whether a telephone was called by an id: `unknown` where the log doesn't say. */
export type Started = "called" | "not called" | "unknown";

/** The names of the channels that have started, by their ids, in one file. */
const readStarts = async (
  path: string,
  ids: ReadonlySet<string>,
  starts: Map<string, string[]>,
): Promise<void> => {
  const lines = createInterface({ input: createReadStream(path), crlfDelay: Infinity });
  for await (const line of lines) {
    const [event, id = "", ...name] = line.replaceAll('"', "").split(",");
    if (event !== "CHAN_START" || !ids.has(id)) continue;
    starts.set(id, [...(starts.get(id) ?? []), name.join(",")]);
  }
};

/**
 * Looks in Asterisk's log of channels whether telephones were called by some ids. Each id is held by a fence: the log has
 * all that was before it once it has the fence.
 *
 * @param path - a log that was rotated is beside it, with `.1` after its name
 */
export const startedBy = async (
  path: string | undefined,
  ids: readonly string[],
): Promise<ReadonlyMap<string, Started>> => {
  const found = new Map<string, Started>(ids.map((id) => [id, "unknown"]));
  if (path === undefined) return found;
  const isFence = (name: string) => name.startsWith(fencePrefix);
  for (let waited = 0; waited <= writeTimeout; waited += interval) {
    const open = new Set(ids.filter((id) => found.get(id) === "unknown"));
    if (open.size === 0) break;
    const starts = new Map<string, string[]>();
    // A log that isn't there says nothing.
    await readStarts(`${path}.1`, open, starts).catch(() => {});
    await readStarts(path, open, starts).catch(() => {});
    for (const [id, names] of starts) {
      if (names.some((name) => !isFence(name))) found.set(id, "called");
      else if (names.some(isFence)) found.set(id, "not called");
    }
    await new Promise((resolve) => setTimeout(resolve, interval));
  }
  return found;
};
