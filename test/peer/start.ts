import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

const server = fileURLToPath(new URL("server.ts", import.meta.url));

/** Starts the server that misbehaves on request; it ends with this process, or by `stop`. */
export const startPeer = async (): Promise<{ readonly url: string; readonly stop: () => void }> => {
  const child = spawn(process.execPath, [server], { stdio: ["pipe", "pipe", "inherit"] });
  const [line] = await once(child.stdout, "data");
  return { url: String(line).trim(), stop: () => child.stdin.end() };
};
