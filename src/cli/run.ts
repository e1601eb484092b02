import { version } from "../../package.json";
import { fieldsOf } from "../lib/check.ts";
import {
  type Entry,
  type Exit,
  exits,
  Failure,
  type Host,
  helpOf,
  overview,
  type Stage,
  suggestion,
  UsageError,
} from "./command.ts";
import type { ModuleFlag } from "./script-failure.ts";
import { jsonLine, plain } from "./terminal.ts";

/** Every command, in the order of the help. */
export const commands: Readonly<Record<string, Entry>> = {
  init: {
    summary: "Creates a project that places a call.",
    load: () => import("./commands/init.ts"),
  },
  call: { summary: "Places one call.", load: () => import("./commands/call.ts") },
  get: {
    summary: "Prints a call that was placed, as JSON.",
    load: () => import("./commands/get.ts"),
  },
  why: {
    summary: "Says why a call failed, or ended as it did.",
    load: () => import("./commands/why.ts"),
  },
  end: {
    summary: "Ends a call, also one that rings.",
    load: () => import("./commands/end.ts"),
  },
  recording: {
    summary: "Fetches the recording of a call.",
    load: () => import("./commands/recording.ts"),
  },
  dial: {
    summary: "Calls every contact of a list, each at most once per attempt.",
    load: () => import("./commands/dial.ts"),
  },
  stop: {
    summary: "Stops the dialling from another terminal, and ends the live calls.",
    load: () => import("./commands/stop.ts"),
  },
  results: {
    summary: "Prints the disposition of each contact of a ledger, as CSV or JSON.",
    load: () => import("./commands/results.ts"),
  },
  report: {
    summary: "Prints the figures of a ledger: answer rate, dispositions, attempts, answers.",
    load: () => import("./commands/report.ts"),
  },
  block: {
    summary: "Adds numbers to the do-not-call list of a ledger, also during a run.",
    load: () => import("./commands/block.ts"),
  },
  unblock: {
    summary: "Takes numbers off the do-not-call list of a ledger, with a reason.",
    load: () => import("./commands/unblock.ts"),
  },
  erase: {
    summary: "Deletes the data of numbers from a ledger, which never calls them again.",
    load: () => import("./commands/erase.ts"),
  },
  emulator: {
    summary: "Runs the whole service on this machine, with a dashboard, until ctrl-C.",
    load: () => import("./commands/emulator.ts"),
  },
  exchange: {
    summary: "Runs the service on a telephone exchange of your own: Asterisk and a SIP trunk.",
    load: () => import("./commands/exchange.ts"),
  },
  trigger: {
    summary: "Places a call of a chosen scenario on an emulator on this machine only.",
    load: () => import("./commands/trigger.ts"),
  },
  completion: {
    summary: "Prints a script that completes commands and options in a shell.",
    load: () => import("./commands/completion.ts"),
  },
};

const find = (name: string): Entry | undefined =>
  Object.entries(commands).find(([each]) => each === name)?.[1];

const unknownCommand = (name: string): UsageError =>
  new UsageError(`there is no such command${suggestion(name, [...Object.keys(commands), "help"])}`);

const isHelp = (arg: string): boolean => arg === "--help" || arg === "-h";

/** The text to print instead of running a command, if one was asked for. */
const information = async (name: string, args: readonly string[]): Promise<string | undefined> => {
  const topic = name === "help" ? args[0] : args.some(isHelp) ? name : undefined;
  if (!name || isHelp(name) || (name === "help" && !topic)) {
    return overview(Object.entries(commands).map(([each, { summary }]) => [each, summary]));
  }
  if (name === "--version" || name === "-v") return version;
  if (!topic) return;
  const entry = find(topic);
  if (!entry) throw unknownCommand(topic);
  return helpOf(topic, entry.summary, (await entry.load()).command);
};

/** The end of a command that reached a stage. */
interface Early {
  readonly exit: Exit;
  readonly interrupted?: Exit;
  readonly placed: "no" | "maybe" | "yes" | undefined;
  readonly note: string;
}

const nothing = { exit: exits.refused, placed: "no", note: "no call was placed" } as const;

/** What is known about a call when a command ends early, by the stage it reached, and its exit code where it is interrupted. */
const early = {
  nothing,
  listed: { ...nothing, interrupted: exits.interrupted },
  live: { exit: exits.refused, placed: undefined, note: "the same command may be repeated" },
  sent: {
    exit: exits.maybe,
    placed: "maybe",
    note: "a call may have been placed, so find out before you call again",
  },
  recorded: {
    exit: exits.maybe,
    interrupted: exits.interrupted,
    placed: "maybe",
    note: "calls may have been placed; the same command resumes, and repeats none of them",
  },
  placed: { exit: exits.done, placed: "yes", note: "the call was placed" },
  waiting: {
    exit: exits.unknown,
    placed: "yes",
    note: "the call was placed; its end is not known",
  },
} as const satisfies Record<Stage, Early>;

/** The end of a command that failed unexpectedly. */
export const endedEarly = (what: string, stage: Stage): Failure => {
  const { exit, placed, note } = early[stage];
  return new Failure(`${what} (${note})`, exit, { placed });
};

/** The end of a command that was interrupted. */
export const interrupted = (what: string, stage: Stage): Failure => {
  const { exit, placed, note, ...own } = early[stage];
  const code = "interrupted" in own ? own.interrupted : exit;
  return new Failure(`${what} (${note})`, code, { placed });
};

/** Of an unexpected error only the name is printed: its message may contain anything. */
const failureOf = (error: unknown, stage: Stage): Failure =>
  error instanceof Failure
    ? error
    : endedEarly(`unexpected ${error instanceof Error ? error.name : "error"}`, stage);

/** What a module of the user's decides, by the option that names it. */
const decisions: Readonly<Record<ModuleFlag, string>> = {
  "--script": "steps",
  "--flow-file": "default export",
};

/** The option by which a command runs a module of the user's. */
export const moduleFlagIn = (argv: readonly string[]): ModuleFlag | undefined =>
  (["--script", "--flow-file"] as const).find((flag) =>
    argv.some((arg) => arg === flag || arg.startsWith(`${flag}=`)),
  );

/**
 * What is reported of an error that nobody caught. This package catches its own, so where there is a module of the user's it is
 * that module's, whose message is printed as in the steps of a script.
 */
export const uncaughtFailure = (error: unknown, stage: Stage, argv: readonly string[]): unknown => {
  const flag = moduleFlagIn(argv);
  if (!flag || error instanceof Failure) return error;
  const message = fieldsOf(error).message ?? error;
  return endedEarly(
    `${flag} failed outside of its ${decisions[flag]}, so await what they start, or catch its errors: ${message}`,
    stage,
  );
};

/** Prints a failure on stderr, and returns its exit code. */
export const reportFailure = async (
  error: unknown,
  stage: Stage,
  [name = "", ...args]: readonly string[],
  { terminal }: Pick<Host, "terminal">,
): Promise<Exit> => {
  const failure = failureOf(error, stage);
  const { exit, facts } = failure;
  const message = plain(failure.message);
  const line = args.includes("--json")
    ? (jsonLine({ error: { name: failure.name, message, exit, ...facts } }) ??
      jsonLine({ error: { message, exit } }))
    : undefined;
  const topic = find(name) ? `help ${name}` : "help";
  const hint = exit === exits.usage ? `; see \`outdial ${topic}\`` : "";
  await terminal.report(line ?? `outdial: ${message}${hint}`);
  return exit;
};

/**
 * Runs `outdial` with its arguments.
 *
 * @returns the exit code
 * @throws {Failure} if the command fails
 */
export const run = async (argv: readonly string[], host: Host): Promise<Exit> => {
  const [name = "", ...args] = argv;
  const text = await information(name, args);
  if (text !== undefined) {
    await host.terminal.print(text);
    return exits.done;
  }
  const entry = find(name);
  if (!entry) throw unknownCommand(name);
  const { command } = await entry.load();
  return command.run(args, { ...host, commands });
};
