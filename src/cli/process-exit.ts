import { syncBuiltinESMExports } from "node:module";
import type { ModuleFlag } from "./script-failure.ts";

/** What ends a process, where a program finds it. */
const doors = [process, Reflect.get(globalThis, "Deno")].filter(
  (owner): owner is object => typeof owner === "object" && owner !== null,
);

/** The runtime's own: Deno's `process.exit` calls `Deno.exit`. */
const opened = doors.map((owner) => [owner, Reflect.get(owner, "exit")] as const);

/** Ends the process of a command. */
export const exitProcess = (code: number): never => {
  for (const [owner, exit] of opened) Reflect.set(owner, "exit", exit);
  return process.exit(code);
};

/** Why `process.exit` of a user's module does nothing. */
const reasons: Readonly<Record<ModuleFlag, string>> = {
  "--script":
    "process.exit would leave the live calls of the list: return hangup() to end a call, or await campaign.cancel()",
  "--flow-file": "process.exit would end the command without a call: export an action",
};

class ProcessExit extends Error {
  override readonly name = "ProcessExit";

  constructor(flag: ModuleFlag) {
    super(reasons[flag]);
  }
}

/**
 * Has `process.exit` throw from now on, so that the code of a module that calls it is named and ends no command: a step of a
 * call would leave all others, and a success as its exit code.
 */
export const refuseExit = (flag: ModuleFlag): void => {
  const refuse = (): never => {
    throw new ProcessExit(flag);
  };
  for (const owner of doors) Reflect.set(owner, "exit", refuse);
  // Node keeps the named exports of its modules apart.
  if (!("Deno" in globalThis || "Bun" in globalThis)) syncBuiltinESMExports();
};
