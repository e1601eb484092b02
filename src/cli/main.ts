#!/usr/bin/env node
/// <reference types="node" />
import { type Command, UsageError } from "./command.ts";
import { help } from "./help.ts";
import { plain } from "./terminal/plain.ts";
import { version } from "./version.ts";

/** Each command is loaded when it is asked for: `call` starts without the emulator. */
const commands: Readonly<Record<string, () => Promise<Command>>> = {
  call: async () => (await import("./call.ts")).call,
  emulator: async () => (await import("./emulator/emulator.ts")).emulator,
};

const main = async ([name = "", ...args]: readonly string[]): Promise<number> => {
  if ([name, ...args].some((word) => word === "--help" || word === "-h")) {
    console.log(help);
    return 0;
  }
  if (name === "--version" || name === "-v") {
    console.log(version);
    return 0;
  }
  try {
    const load = Object.hasOwn(commands, name) ? commands[name] : undefined;
    if (!load) throw new UsageError(name ? "there is no such command" : "which command?");
    const command = await load();
    return await command(args);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    console.error(`outdial: ${plain(error.message)}; see \`outdial --help\``);
    return 2;
  }
};

process.exitCode = await main(process.argv.slice(2));
