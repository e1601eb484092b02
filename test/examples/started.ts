import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { path } from "./execute.ts";
import { type Mounted, onPort } from "./mounted.ts";

/** A server in a process of its own, by a tool of the tests; its first line with a URL names its port. */
export const started = async (
  command: string,
  args: readonly string[],
  env: object,
  cwd = path("."),
): Promise<Mounted> => {
  const child = spawn(path(`test/node_modules/.bin/${command}`), args, {
    cwd,
    env: { PATH: process.env.PATH, HOME: process.env.HOME, NO_COLOR: "1", ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const port = await new Promise<number>((resolve, reject) => {
    let text = "";
    for (const stream of [child.stdout, child.stderr]) {
      createInterface(stream).on("line", (line) => {
        text += `${line}\n`;
        const [, found] = /http:\/\/[\w.[\]:]+?:(\d+)\//.exec(`${line}/`) ?? [];
        if (found) resolve(Number(found));
      });
    }
    child.once("exit", (code) => reject(new Error(`${command} ended with ${code}: ${text}`)));
  });
  return onPort(port, () => {
    child.removeAllListeners("exit");
    child.kill();
  });
};
