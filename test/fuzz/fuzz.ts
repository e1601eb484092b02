import { inspect } from "../runtimes/inspect.ts";
import { type Fuzzed, sum } from "./fuzzed.ts";
import { fuzz } from "./property.ts";
import { fuzzWire, type Ports } from "./wire/property.ts";

/** What a runtime is told: the first seed, the runs in all, and where the server is. */
export interface Told extends Ports {
  readonly seed: number;
  readonly runs: number;
}

/** How many go side by side, as most of their time they wait; each has a seed of its own. */
const lanes = 12;

/** Both properties in this runtime: a tenth of the runs over real connections. */
export const fuzzAll = async ({ seed, runs, ...ports }: Told): Promise<Record<string, Fuzzed>> => {
  const each = Math.ceil(runs / lanes);
  const seeds = Array.from({ length: lanes }, (_, lane) => seed + lane);
  const inPlace = await Promise.all(seeds.map((one) => fuzz(inspect, one, each)));
  const onWire = await Promise.all(
    seeds.map((one) => fuzzWire(ports, inspect, one, Math.ceil(each / 10))),
  );
  return { "in place": sum(inPlace), "on the wire": sum(onWire) };
};
