import { reachDirectly } from "./address.ts";
import type { Exit, Stage } from "./command.ts";
import { exitProcess, refuseExit } from "./process-exit.ts";
import {
  endedEarly,
  interrupted,
  moduleFlagIn,
  reportFailure,
  run,
  uncaughtFailure,
} from "./run.ts";
import { Terminal } from "./terminal.ts";

const argv = process.argv.slice(2);
const { env, stdin, stdout, stderr } = process;
const terminal = new Terminal({ env, stdin, stdout, stderr });
const interrupt = new AbortController();

let stage: Stage = "nothing";

/** It never rejects: an error while an error is reported ends the command by what is known of the call. */
const report = (error: unknown): Promise<Exit> =>
  reportFailure(error, stage, argv, { terminal }).catch(() => endedEarly("failed", stage).exit);

const exit = async (code: Exit): Promise<never> => {
  await terminal.flush();
  return exitProcess(code);
};

const moduleFlag = moduleFlagIn(argv);
if (moduleFlag) refuseExit(moduleFlag);

for (const event of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
  process.on(event, () => {
    if (!interrupt.signal.aborted) return interrupt.abort(interrupted("interrupted", stage));
    // At once: stdout may be stuck.
    const twice = interrupted("interrupted twice", stage);
    report(twice);
    exitProcess(twice.exit);
  });
}

// An error that nobody awaits ends the command too.
for (const event of ["uncaughtException", "unhandledRejection"] as const) {
  process.on(event, async (error: unknown) => {
    await exit(await report(uncaughtFailure(error, stage, argv)));
  });
}
// A reader that leaves (`outdial … | head -1`) is no failure.
for (const stream of [stdout, stderr]) stream.on("error", () => {});

reachDirectly();
const host = {
  env,
  terminal,
  signal: interrupt.signal,
  reached: (now: Stage) => {
    stage = now;
  },
};
await exit(await run(argv, host).catch(report));
