import { spawn } from "node:child_process";
import { once } from "node:events";
import type { Wanted } from "./table/index.ts";

/** Starts the server that misbehaves; it ends with this process, or when asked. */
export const serve = async (
  folder: string,
  wanted: Wanted,
  machine = "",
): Promise<{ readonly control: string; readonly stop: () => void }> => {
  const main = "test/faults/server/main.ts";
  const server = spawn(process.execPath, [main, folder, JSON.stringify(wanted), machine], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const control = String((await once(server.stdout, "data"))[0]).trim();
  return { control, stop: () => server.stdin.end() };
};
