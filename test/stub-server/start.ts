import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

const server = fileURLToPath(new URL("server.ts", import.meta.url));

/** A server in a process of its own. */
export interface Peer {
  readonly url: string;
  /** Ends it: resolves with its exit code once it has ended, as it holds the `stderr` of this process until then. */
  readonly stop: () => Promise<number | null>;
}

/** Starts the server that misbehaves on request; it ends with this process, or by `stop`. */
export const startPeer = async (): Promise<Peer> => {
  const child = spawn(process.execPath, [server], { stdio: ["pipe", "pipe", "inherit"] });
  const exited = once(child, "exit");
  const [line] = await once(child.stdout, "data");
  return {
    url: String(line).trim(),
    stop: async () => {
      child.stdin.end();
      const [code] = await exited;
      return code;
    },
  };
};
