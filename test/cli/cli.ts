import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Stage } from "../../src/cli/command.ts";
import { Terminal } from "../../src/cli/terminal.ts";

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
  readonly kill: (signal: NodeJS.Signals) => void;
  /** The output so far. */
  readonly printed: () => string;
  /** Waits until a text is printed, and returns all output. */
  readonly says: (what: RegExp) => Promise<string>;
  readonly ended: Promise<Ended>;
}

export interface RunningProcess extends Running {
  readonly child: ChildProcess;
}

/** Collects output, and announces it. */
const collect = () => {
  const text = { stdout: "", stderr: "" };
  const watchers = new Set<() => void>();
  const printed = () => text.stdout + text.stderr;
  return {
    text,
    printed,
    add: (stream: keyof typeof text, chunk: unknown) => {
      text[stream] += chunk;
      for (const watch of watchers) watch();
    },
    saysUntil: (ended: Promise<Ended>) => (what: RegExp) =>
      new Promise<string>((resolve, reject) => {
        const watch = () => what.test(printed()) && resolve(printed());
        watchers.add(watch);
        watch();
        ended.then(() => reject(new Error(`ended without ${what}: ${printed()}`)));
      }),
  };
};

/** Starts a command, with nothing of this process's environment that `outdial` would read. */
const run = (
  command: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  stdin: "ignore" | "pipe" = "ignore",
): RunningProcess => {
  const { PATH = "", HOME = "", NODE_COMPILE_CACHE = "" } = process.env;
  const child = spawn(command, args, {
    env: {
      PATH,
      HOME,
      NODE_COMPILE_CACHE,
      XDG_STATE_HOME: state,
      DENO_NO_UPDATE_CHECK: "1",
      ...env,
    },
    stdio: [stdin, "pipe", "pipe"],
  });
  const { text, printed, add, saysUntil } = collect();
  child.stdout?.on("data", (chunk) => add("stdout", chunk));
  child.stderr?.on("data", (chunk) => add("stderr", chunk));
  const ended = new Promise<Ended>((resolve) =>
    child.on("close", (code) => resolve({ code, ...text })),
  );
  const kill = (signal: NodeJS.Signals) => void child.kill(signal);
  return { child, kill, printed, says: saysUntil(ended), ended };
};

/** Runs a command on Node with a text on its stdin. */
export const startWithInput = (
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  input: string,
): Promise<Ended> => {
  const [command = "", ...rest] = commands.node({});
  const { child, ended } = run(command, [...rest, ...args], env, "pipe");
  child.stdin?.end(input);
  return ended;
};

/** How the streams of a command in this process behave. */
interface Streams {
  /** Columns of a terminal on stderr. */
  readonly columns?: number;
}

/** Starts a command in this process, from its source: whatever needs no process of its own. */
export const begin = (
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  { columns }: Streams = {},
): Running => {
  const { text, printed, add, saysUntil } = collect();
  const output = (name: keyof typeof text) => ({
    ...(columns !== undefined && { isTTY: true, columns }),
    write: (chunk: string, done: () => void) => {
      add(name, chunk);
      done();
    },
  });
  const own = { XDG_STATE_HOME: state, ...env };
  const streams = { stdout: output("stdout"), stderr: output("stderr") };
  const terminal = new Terminal({ env: own, stdin: undefined, ...streams });
  const interrupt = new AbortController();
  let stage: Stage = "nothing";
  const host = {
    env: own,
    terminal,
    signal: interrupt.signal,
    reached: (now: Stage) => {
      stage = now;
    },
  };
  // Only vitest loads it, as it imports package.json: `npm run chaos`, which starts processes alone, has plain Node.
  const command = import("../../src/cli/run.ts");
  const ended = command
    .then(({ run, reportFailure }) =>
      run(args, host).catch((error: unknown) => reportFailure(error, stage, args, host)),
    )
    .then((code): Ended => ({ code, ...text }));
  const kill = () =>
    void command.then(({ interrupted }) => interrupt.abort(interrupted("interrupted", stage)));
  return { kill, printed, says: saysUntil(ended), ended };
};

/** Runs a command in this process to its end. */
export const invoke = (
  args: readonly string[],
  env?: Readonly<Record<string, string>>,
): Promise<Ended> => begin(args, env).ended;

/** Starts the built `outdial` in a process of its own. */
export const start = (
  runtime: Runtime,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  how: How = {},
): RunningProcess => {
  const [command = "", ...first] = commands[runtime](how);
  return run(command, [...first, ...args], env);
};

/** Starts `outdial` in a shell, its streams led elsewhere: `1>/dev/full`, `| head -1`; and with a limit: `ulimit -f 1`. */
export const startInShell = (
  runtime: Runtime,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  redirection: string,
  limit = ":",
): RunningProcess => {
  const words = [...commands[runtime]({}), ...args].map((word) => `'${word}'`);
  return run("sh", ["-c", `${limit}; ${words.join(" ")} ${redirection}`], env);
};

/** Starts `outdial` under Node on a terminal of its own, whose keys are written to its `child.stdin`. */
export const startOnTerminal = (
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): RunningProcess => {
  const line = [...commands.node({}), ...args].join(" ");
  return run("script", ["-qefc", line, "/dev/null"], env, "pipe");
};

/** Runs the built `outdial` in a process of its own to its end. */
export const outdial = (
  runtime: Runtime,
  args: readonly string[],
  env?: Readonly<Record<string, string>>,
  how?: How,
): Promise<Ended> => start(runtime, args, env, how).ended;
