import type { Script, ScriptStep } from "../../../campaigns/index.ts";
import { pause, say } from "../../../flows/index.ts";

/** How long a call is assumed to be whose flow can't be asked, in milliseconds. */
export const assumedLength = 30_000;

/** Stands for a flow on another host. */
export const assumedScript: Script = { onAnswer: () => say([pause(assumedLength)]) };

/** A script, and which of its functions were never called. */
export interface WatchedScript {
  readonly script: Script;
  /** The names of the steps, and `onMachine`, that no call has reached. */
  readonly unreached: () => readonly string[];
}

/** Notes which functions of a script are called. */
export const watchScript = (script: Script): WatchedScript => {
  const { onMachine, steps = {} } = script;
  const unreached = new Set([...(onMachine ? ["onMachine"] : []), ...Object.keys(steps)]);
  const watched =
    (name: string, step: ScriptStep): ScriptStep =>
    (given) => {
      unreached.delete(name);
      return step(given);
    };
  const all = Object.entries(steps).map(([name, step]) => [name, watched(name, step)] as const);
  return {
    script: {
      ...script,
      onMachine: onMachine && watched("onMachine", onMachine),
      ...(script.steps && { steps: Object.fromEntries(all) }),
    },
    unreached: () => [...unreached],
  };
};
