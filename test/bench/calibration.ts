import { availableParallelism, loadavg } from "node:os";
import { summary } from "./statistics.ts";

/** The same work each time: the time that it takes tells what the machine does besides. */
const work = (): number => {
  let sum = 0;
  for (let step = 0; step < 3_000_000; step++) sum = (Math.imul(sum, 31) + step) | 0;
  return sum;
};

// Until the engine has compiled it for good, its time would tell of that.
for (let times = 0; times < 100; times++) work();

let times: number[] = [];

/** Measures the machine once; before each round of everything else. */
export const calibrate = (): void => {
  const start = performance.now();
  work();
  times.push(performance.now() - start);
};

/** Says how noisy the machine was since the last time, and begins anew. */
export const noiseLine = (): string => {
  const sorted = times.toSorted((a, b) => a - b);
  const { median, low, high, rounds } = summary(times);
  const worst = (sorted[Math.floor(sorted.length * 0.95)] ?? 0) / (sorted[0] ?? 1);
  const spread = (((high - low) / median) * 100).toFixed(0);
  times = [];
  return `the same piece of work, ${rounds} times between the rounds: median ${median.toFixed(1)} ms, quartiles ${spread} % of it apart, 95th percentile ${worst.toFixed(1)} x the fastest; load ${(loadavg()[0] ?? 0).toFixed(1)} on ${availableParallelism()} cores`;
};
