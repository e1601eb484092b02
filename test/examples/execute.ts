import { spawn } from "node:child_process";
import { delimiter } from "node:path";
import { fileURLToPath } from "node:url";

/** A path of this repository. */
export const path = (relative: string): string =>
  fileURLToPath(new URL(`../../${relative}`, import.meta.url));

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a command to its end, with nothing in its environment but PATH and what is given. */
export const execute = (
  command: string,
  args: readonly string[],
  { PATH = "", ...env }: Readonly<Record<string, string>> = {},
  cwd: string = path("."),
): Promise<Ended> =>
  new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd,
      env: {
        HOME: process.env.HOME,
        NO_COLOR: "1",
        ...env,
        PATH: [PATH, process.env.PATH].filter(Boolean).join(delimiter),
      },
      stdio: ["ignore", "pipe", "pipe"],
      timeout: 60_000,
    });
    const read = async (stream: AsyncIterable<Buffer>): Promise<string> => {
      const chunks = [];
      for await (const chunk of stream) chunks.push(chunk);
      return Buffer.concat(chunks).toString();
    };
    const output = Promise.all([read(child.stdout), read(child.stderr)]);
    child.on("error", () => reject(new Error(`${command} is not on this machine`)));
    child.on("close", (code) =>
      output.then(([stdout, stderr]) => resolve({ code, stdout, stderr }), reject),
    );
  });
