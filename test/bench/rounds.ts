import { calibrate } from "./calibration.ts";
import { type Child, start } from "./child.ts";
import type { Ask, Told } from "./work/loop.ts";

/** Someone to be measured, and the process that does it. */
export interface Entry {
  readonly name: string;
  readonly command: readonly string[];
  /** A tenth of the calls, for one that is slow. */
  readonly slow?: boolean | undefined;
}

const fewer = (ask: Ask, slow = false): Ask =>
  slow ? { ...ask, calls: Math.ceil(ask.calls / 10), warmUp: Math.ceil(ask.warmUp / 10) } : ask;

/** What each entry told in each round, by name; and who could not be measured, and why. */
export interface Rounds {
  readonly told: ReadonlyMap<string, readonly Told[]>;
  readonly failed: ReadonlyMap<string, string>;
}

/**
 * Many short rounds, in each of which everyone has a turn, in another order each time: what disturbs
 * the machine for a while disturbs all alike. Everyone has a process of its own, so that nobody's
 * garbage and compiled code is another's.
 */
export const interleave = async (
  entries: readonly Entry[],
  rounds: number,
  ask: Ask,
  warmUp: Ask,
): Promise<Rounds> => {
  const told = new Map<string, Told[]>();
  const failed = new Map<string, string>();
  const children = new Map<string, Child>();
  const slow = new Set(entries.flatMap((entry) => (entry.slow ? [entry.name] : [])));
  const attempt = async (name: string, work: () => Promise<unknown>) => {
    try {
      await work();
    } catch (error) {
      failed.set(name, reasonOf(error));
      children.get(name)?.stop();
      children.delete(name);
      told.delete(name);
    }
  };
  for (const { name, command } of entries) {
    await attempt(name, async () => {
      const child = await start(command);
      children.set(name, child);
      await child.ask(fewer(warmUp, slow.has(name)));
      told.set(name, []);
    });
  }
  for (let round = 0; round < rounds; round++) {
    calibrate();
    const names = [...children.keys()];
    const turns = names.map((_, place) => names[(place + round) % names.length] ?? "");
    if (round % 2) turns.reverse();
    for (const name of turns) {
      await attempt(name, async () => {
        const answer = await children.get(name)?.ask<Told>(fewer(ask, slow.has(name)));
        if (answer) told.get(name)?.push(answer);
      });
    }
  }
  for (const child of children.values()) child.stop();
  return { told, failed };
};

/** The line that says what went wrong, without colours, paths and stack. */
export const reasonOf = (error: unknown): string => {
  const text = String(Object(error).message ?? error).replace(/\p{Cc}\[[\d;]*m/gu, "");
  const line = text.split("\n").find((each) => /error/i.test(each)) ?? text.split("\n")[0] ?? "";
  return line
    .replace(/\(?file:\/\/\S+/g, "")
    .trim()
    .slice(0, 160);
};
