import { setTimeout as wait } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

setFlagsFromString("--expose-gc");
const collect: () => void = runInNewContext("gc");

/** Bytes of the heap that are in use once all garbage is gone, that of finalizers and sockets too. */
export const heapInUse = async (): Promise<number> => {
  for (let round = 0; round < 3; round++) {
    collect();
    await wait(20);
  }
  collect();
  return process.memoryUsage().heapUsed;
};

/** The heap of one process after so many calls. */
export interface Sample {
  readonly calls: number;
  readonly heap: number;
}

/** A line through samples: bytes for each call, and how far off that may be (a standard error). */
export interface Slope {
  readonly bytes: number;
  readonly error: number;
}

const mean = (numbers: readonly number[]): number =>
  numbers.reduce((sum, each) => sum + each, 0) / numbers.length;

/** The calls in which V8 compiles what it runs, and the tables of a service fill. */
const warmUp = 4_000;

/**
 * The least squares line through all samples but the first third and the calls of the warm-up, in which V8
 * lets go of what it compiled to start; nothing when there are too few for a line.
 */
export const slopeOf = (samples: readonly Sample[]): Slope | undefined => {
  const later = samples.slice(Math.ceil(samples.length / 3));
  const warm = later.filter(({ calls }) => calls >= warmUp);
  if (warm.length < 6) return;
  const calls = mean(warm.map((each) => each.calls));
  const heap = mean(warm.map((each) => each.heap));
  const spread = warm.reduce((sum, each) => sum + (each.calls - calls) ** 2, 0);
  const bytes =
    warm.reduce((sum, each) => sum + (each.calls - calls) * (each.heap - heap), 0) / spread;
  const off = warm.map((each) => each.heap - heap - bytes * (each.calls - calls));
  const variance = off.reduce((sum, each) => sum + each ** 2, 0) / (warm.length - 2);
  return { bytes, error: Math.sqrt(variance / spread) };
};
