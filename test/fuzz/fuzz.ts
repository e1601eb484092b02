import { entries } from "../conformance/entries.ts";
import { carrierOf, entriesWith, type ServiceName } from "../conformance/services/index.ts";
import { inspect } from "../runtimes/inspect.ts";
import { type Fuzzed, type Subject, sum } from "./fuzzed.ts";
import { fuzz } from "./property.ts";
import { fuzzWire, type Ports } from "./wire/property.ts";

/** What a runtime gets: the first seed, the runs in all, and where the server is. */
export interface Reported extends Ports {
  readonly seed: number;
  readonly runs: number;
  /** The carrier that calls are placed with; without one, outdial's own interface. */
  readonly service?: ServiceName;
}

/** How many go side by side, as most of their time they wait; each has a seed of its own. */
const lanes = 12;

/** Both properties in this runtime: a tenth of the runs over real connections. */
export const fuzzAll = async ({
  seed,
  runs,
  service,
  ...ports
}: Reported): Promise<Record<string, Fuzzed>> => {
  const fuzzed: Subject = service
    ? { entries: entriesWith(service), carrier: carrierOf(service) }
    : { entries };
  const each = Math.ceil(runs / lanes);
  const seeds = Array.from({ length: lanes }, (_, lane) => seed + lane);
  const inPlace = await Promise.all(seeds.map((one) => fuzz(fuzzed, inspect, one, each)));
  const onWire = await Promise.all(
    seeds.map((one) => fuzzWire(fuzzed, ports, inspect, one, Math.ceil(each / 10))),
  );
  return { "in place": sum(inPlace), "on the wire": sum(onWire) };
};
