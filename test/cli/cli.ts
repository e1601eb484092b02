import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const path = (file: string): string => fileURLToPath(new URL(`../../${file}`, import.meta.url));
const modules = path("test/node_modules");
const main = path("dist/cli/main.js");

/** How a runtime starts the built command line. */
interface How {
  /** A module that is loaded before it, to break something under it. */
  readonly preload?: string | undefined;
  /** Deno's permissions. */
  readonly allow?: readonly string[];
}

const commands = {
  node: ({ preload }: How) => [
    `${modules}/node/bin/node`,
    ...(preload ? [`--import=${preload}`] : []),
    main,
  ],
  deno: ({ preload, allow = ["--allow-env", "--allow-net"] }: How) => [
    ...[`${modules}/.bin/deno`, "run", "--no-prompt", ...allow],
    ...(preload ? [`--preload=${preload}`] : []),
    main,
  ],
  bun: ({ preload }: How) => [
    `${modules}/.bin/bun`,
    ...(preload ? ["--preload", preload] : []),
    main,
  ],
} as const;

/** Where the emulators of a test file keep their account, instead of the user's own place. */
const state = mkdtempSync(join(tmpdir(), "outdial-state-"));

export type Runtime = keyof typeof commands;

export const runtimes: readonly Runtime[] = ["node", "deno", "bun"];

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Running {
  readonly child: ChildProcess;
  /** What it has printed so far. */
  readonly printed: () => string;
  /** Waits until it has printed a text, and gives all of it. */
  readonly says: (what: RegExp) => Promise<string>;
  readonly ended: Promise<Ended>;
}

/** Starts a command, with nothing of this process's environment that `outdial` would read. */
const run = (
  command: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  stdin: "ignore" | "pipe" = "ignore",
): Running => {
  const { PATH = "", HOME = "" } = process.env;
  const child = spawn(command, args, {
    env: { PATH, HOME, XDG_STATE_HOME: state, DENO_NO_UPDATE_CHECK: "1", ...env },
    stdio: [stdin, "pipe", "pipe"],
  });
  let stdout = "";
  let stderr = "";
  const watchers = new Set<() => void>();
  const told = () => {
    for (const watch of watchers) watch();
  };
  child.stdout?.on("data", (chunk) => {
    stdout += chunk;
    told();
  });
  child.stderr?.on("data", (chunk) => {
    stderr += chunk;
    told();
  });
  const ended = new Promise<Ended>((resolve) =>
    child.on("close", (code) => resolve({ code, stdout, stderr })),
  );
  const printed = () => stdout + stderr;
  const says = (what: RegExp) =>
    new Promise<string>((resolve, reject) => {
      const watch = () => what.test(printed()) && resolve(printed());
      watchers.add(watch);
      watch();
      ended.then(() => reject(new Error(`ended without ${what}: ${printed()}`)));
    });
  return { child, printed, says, ended };
};

/** Starts `outdial`. */
export const start = (
  runtime: Runtime,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  how: How = {},
): Running => {
  const [command = "", ...first] = commands[runtime](how);
  return run(command, [...first, ...args], env);
};

/** Starts `outdial` in a shell, its streams led elsewhere: `1>/dev/full`, `| head -1`. */
export const startInShell = (
  runtime: Runtime,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  redirection: string,
): Running => {
  const words = [...commands[runtime]({}), ...args].map((word) => `'${word}'`);
  return run("sh", ["-c", `${words.join(" ")} ${redirection}`], env);
};

/** Starts `outdial` under Node on a terminal of its own, whose keys are written to its `child.stdin`. */
export const startOnTerminal = (
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Running => {
  const line = [...commands.node({}), ...args].join(" ");
  return run("script", ["-qefc", line, "/dev/null"], env, "pipe");
};

/** Runs `outdial` to its end. */
export const outdial = (
  runtime: Runtime,
  args: readonly string[],
  env?: Readonly<Record<string, string>>,
  how?: How,
): Promise<Ended> => start(runtime, args, env, how).ended;
