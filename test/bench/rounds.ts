// Rounds, the noise of the machine between them, and the figures that come of them.
import { availableParallelism, loadavg } from "node:os";
import { type Child, start } from "./processes.ts";
import type { Ask, Round } from "./work/calls.ts";

/** Many rounds in short: the median, and the quartiles as its spread. */
export interface Summary {
  readonly median: number;
  readonly low: number;
  readonly high: number;
  readonly rounds: number;
}

const quantile = (sorted: readonly number[], part: number): number => {
  const at = (sorted.length - 1) * part;
  const below = sorted[Math.floor(at)] ?? Number.NaN;
  const above = sorted[Math.ceil(at)] ?? Number.NaN;
  return below + (above - below) * (at % 1);
};

export const summary = (values: readonly number[]): Summary => {
  const sorted = values.toSorted((a, b) => a - b);
  return {
    median: quantile(sorted, 0.5),
    low: quantile(sorted, 0.25),
    high: quantile(sorted, 0.75),
    rounds: values.length,
  };
};

/** The ratio within each round: what slows the machine in a round slows both. */
export const ratio = (ones: readonly number[], others: readonly number[]): Summary =>
  summary(ones.map((one, round) => one / (others[round] ?? Number.NaN)));

/** Three significant digits, with a space between thousands. */
export const number = (value: number): string => {
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return value.toFixed(digits).replace(/\B(?=(\d{3})+$)/g, " ");
};

/** The median, and the quartiles behind it. */
export const spread = ({ median, low, high }: Summary): string =>
  `${number(median)} (${number(low)} – ${number(high)})`;

export const kB = (bytes: number): string => `${(bytes / 1000).toFixed(1)} kB`;

/** The same work each time: its time shows what else the machine does. */
const work = (): number => {
  let sum = 0;
  for (let step = 0; step < 3_000_000; step++) sum = (Math.imul(sum, 31) + step) | 0;
  return sum;
};

let noise: number[] | undefined;

/** Begins to measure the noise of the machine. */
export const listenForNoise = (): void => {
  // The engine compiles the work first.
  for (let times = 0; times < 10; times++) work();
  noise = [];
};

/** Measures the noise of the machine once, where it is listened for; before each round of everything else. */
export const calibrate = (): void => {
  if (!noise) return;
  const began = performance.now();
  work();
  noise.push(performance.now() - began);
};

/** Describes the noise of the machine since the last call of this function. */
export const noiseLine = (): string => {
  const times = noise?.toSorted((a, b) => a - b) ?? [];
  const { median, low, high, rounds } = summary(times);
  const worst = (times[Math.floor(times.length * 0.95)] ?? 0) / (times[0] ?? 1);
  const apart = (((high - low) / median) * 100).toFixed(0);
  noise = [];
  return `the same piece of work, ${rounds} times between the rounds: median ${median.toFixed(1)} ms, quartiles ${apart} % of it apart, 95th percentile ${worst.toFixed(1)} x the fastest; load ${(loadavg()[0] ?? 0).toFixed(1)} on ${availableParallelism()} cores`;
};

/** Someone to be measured, and the process that does it. */
export interface Entry {
  readonly name: string;
  readonly command: readonly string[];
  /** A tenth of the calls, for one that is slow. */
  readonly slow?: boolean | undefined;
}

const fewer = (ask: Ask, slow = false): Ask =>
  slow ? { ...ask, calls: Math.ceil(ask.calls / 10), warmUp: Math.ceil(ask.warmUp / 10) } : ask;

/** The rounds of each entry by its name, and why the others could not be measured. */
export interface Rounds {
  readonly measured: ReadonlyMap<string, readonly Round[]>;
  readonly failed: ReadonlyMap<string, string>;
}

/**
 * Many short rounds, in each of which everyone is measured, in another order each time: what disturbs
 * the machine for a while disturbs all alike. Everyone has a process of its own, so that nobody's
 * garbage and compiled code is another's.
 */
export const interleave = async (
  entries: readonly Entry[],
  rounds: number,
  ask: Ask,
  warmUp: Ask,
): Promise<Rounds> => {
  const measured = new Map<string, Round[]>();
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
      measured.delete(name);
    }
  };
  for (const { name, command } of entries) {
    await attempt(name, async () => {
      const child = await start(command);
      children.set(name, child);
      await child.ask(fewer(warmUp, slow.has(name)));
      measured.set(name, []);
    });
  }
  for (let round = 0; round < rounds; round++) {
    calibrate();
    const names = [...children.keys()];
    const order = names.map((_, place) => names[(place + round) % names.length] ?? "");
    if (round % 2) order.reverse();
    for (const name of order) {
      await attempt(name, async () => {
        const answer = await children.get(name)?.ask<Round>(fewer(ask, slow.has(name)));
        if (answer) measured.get(name)?.push(answer);
      });
    }
  }
  for (const child of children.values()) child.stop();
  return { measured, failed };
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
