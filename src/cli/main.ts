#!/usr/bin/env node
/// <reference types="node" />
import { version } from "../request/version.ts";
import type { Stage } from "./command/command.ts";
import { type Exit, exits, Failure, UsageError } from "./command/failure.ts";
import { help, helpOf } from "./command/help.ts";
import { nearest } from "./command/nearest.ts";
import { commands } from "./commands.ts";
import { reachDirectly } from "./local/direct.ts";
import { jsonLine } from "./terminal/json.ts";
import { end, print } from "./terminal/output.ts";
import { plain } from "./terminal/plain.ts";

const [name = "", ...args] = process.argv.slice(2);

/** How far the command has come. */
let stage: Stage = "nothing";

/** What it means when a command ends early. */
const ends = {
  nothing: [exits.refused, "no", "no call was placed"],
  sent: [exits.maybe, "maybe", "a call may have been placed, so find out before you call again"],
  placed: [exits.done, "yes", "the call was placed"],
} as const;

const early = (what: string): Failure => {
  const [exit, placed, words] = ends[stage];
  return new Failure(`${what} (${words})`, exit, { placed });
};

/** Of an error that nobody foresaw the name alone is told: its message may hold anything. */
const failureOf = (error: unknown): Failure =>
  error instanceof Failure ? error : early(`unexpected ${Object(error).name ?? "error"}`);

/** Tells of a failure on stderr, and gives its exit code. */
const tell = (error: unknown): Exit => {
  const failure = failureOf(error);
  const { message, exit, facts } = failure;
  const line = plain(message);
  const known = { name: failure.name, message: line, exit, ...facts };
  const asked = args.includes("--json");
  const json =
    asked && (jsonLine({ error: known }) ?? jsonLine({ error: { message: line, exit } }));
  const topic = find(name) ? `help ${name}` : "help";
  const hint = exit === exits.usage ? `; see \`outdial ${topic}\`` : "";
  print(json || `outdial: ${line}${hint}`, process.stderr);
  return exit;
};

const find = (word: string) => commands.find((command) => command.name === word);

/** @throws {UsageError} with the command that was probably meant, when there is no such one */
const unknown = (word: string): UsageError => {
  if (!word) return new UsageError("which command?");
  const meant = nearest(word, [...commands.map((each) => each.name), "help"]);
  return new UsageError(`there is no such command${meant ? ` (did you mean ${meant}?)` : ""}`);
};

const inform = async (text: string): Promise<Exit> => {
  await print(text);
  return exits.done;
};

const main = async (): Promise<Exit> => {
  const isHelp = (word: string) => word === "--help" || word === "-h";
  const asked = name === "help" ? args[0] : args.some(isHelp) ? name : undefined;
  if (isHelp(name) || (name === "help" && !asked)) return inform(help(commands));
  if (name === "--version" || name === "-v") return inform(version);
  const command = find(asked ?? name);
  if (!command) throw unknown(asked ?? name);
  if (asked) return inform(helpOf(command));
  const reached = (now: Stage) => {
    stage = now;
  };
  return command.run(args, { reached, signal: interrupt.signal });
};

const interrupt = new AbortController();
for (const event of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
  process.on(event, () => {
    if (interrupt.signal.aborted) process.exit(tell(early("interrupted twice")));
    interrupt.abort(early("interrupted"));
  });
}

// What nobody awaits ends the command too, and by what is known then.
for (const event of ["uncaughtException", "unhandledRejection"] as const) {
  process.on(event, (error: unknown) => void end(tell(error)));
}
// A reader that leaves (`outdial … | head -1`) is no failure.
for (const stream of [process.stdout, process.stderr]) stream.on("error", () => {});

reachDirectly();
await end(await main().catch(tell));
