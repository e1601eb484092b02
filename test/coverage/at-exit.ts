import { writeFileSync } from "node:fs";
import { countsHere } from "./counts.ts";

const runtime = ["Deno", "Bun"].find((name) => name in globalThis) ?? "Node";

/** Has the command line leave its counts in a folder when it ends, in any of its runtimes. */
export const keepAtExit = (folder: string): void => {
  process.on("exit", () => {
    const file = `${folder}/command ${runtime.toLowerCase()} ${crypto.randomUUID()}.json`;
    writeFileSync(file, JSON.stringify(countsHere()));
  });
};
