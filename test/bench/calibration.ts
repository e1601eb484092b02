import { loadavg } from "node:os";
import { type Summary, summary } from "./statistics.ts";

/** The same work each time: the time that it takes tells what the machine does besides. */
const work = (): number => {
  let sum = 0;
  for (let step = 0; step < 3_000_000; step++) sum = (Math.imul(sum, 31) + step) | 0;
  return sum;
};

const times: number[] = [];

/** Measures the machine once; before each round of everything else. */
export const calibrate = (): void => {
  const start = performance.now();
  work();
  times.push(performance.now() - start);
};

/** How noisy the machine was, until now. */
export interface Noise extends Summary {
  /** Nineteen of twenty took no longer than this many times the fastest. */
  readonly worst: number;
  readonly load: number;
}

export const noise = (): Noise => {
  const sorted = times.toSorted((a, b) => a - b);
  const worst = (sorted[Math.floor(sorted.length * 0.95)] ?? 0) / (sorted[0] ?? 1);
  return { ...summary(times), worst, load: loadavg()[0] ?? 0 };
};

export const noiseLine = ({ median, low, high, worst, load, rounds }: Noise): string => {
  const spread = (((high - low) / median) * 100).toFixed(0);
  return `the same piece of work, ${rounds} times between the rounds: median ${median.toFixed(1)} ms, quartiles ${spread} % of it apart, 95th percentile ${worst.toFixed(1)} x the fastest; load ${load.toFixed(1)}`;
};
