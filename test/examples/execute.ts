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

/**
 * Runs a command to its end, with nothing in its environment but HOME, PATH, Node's cache and what is given. A
 * command that goes on for longer than `patience`, in milliseconds, is stopped: its `code` is null.
 */
export const execute = (
  command: string,
  args: readonly string[],
  { PATH = "", ...env }: Readonly<Record<string, string>> = {},
  { cwd = path("."), patience = 850_000 } = {},
): Promise<Ended> =>
  new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd,
      env: {
        HOME: process.env.HOME,
        NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
        NO_COLOR: "1",
        ...env,
        PATH: [PATH, process.env.PATH].filter(Boolean).join(delimiter),
      },
      stdio: ["ignore", "pipe", "pipe"],
      timeout: patience,
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

/**
 * Runs the TypeScript compiler that takes the least time. It ends before it would pay to collect its garbage, and more
 * threads take more of a processor in all: several tests run beside it.
 */
export const tsc = (args: readonly string[], cwd = path(".")): Promise<Ended> =>
  execute(
    path("test/node_modules/node/bin/node"),
    [path("test/node_modules/typescript7/bin/tsc"), ...args, "--singleThreaded"],
    { GOGC: "off", GOMEMLIMIT: "2GiB" },
    { cwd },
  );

/** Checks the types of a TypeScript project of this repository. */
export const checkTypes = (project: string, ...options: readonly string[]): Promise<Ended> =>
  tsc(["--project", path(project), ...options]);
