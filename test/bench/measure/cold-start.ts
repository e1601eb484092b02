import { type Bench, kindOf } from "../bench.ts";
import { buildFirstCall, bundleForWorker } from "../build.ts";
import { calibrate } from "../calibration.ts";
import { firstLine } from "../child.ts";
import { spread } from "../format.ts";
import { startIsolates } from "../isolates.ts";
import { reasonOf } from "../rounds.ts";
import type { Runtime } from "../runtimes.ts";
import type { Plot, Section, Standing, Table, Target } from "../section.ts";
import { ratio, summary } from "../statistics.ts";
import { judge } from "./cold-start-goals.ts";

/** Does it once, and gives the milliseconds. */
type Start = () => Promise<number>;

interface Place {
  readonly name: string;
  readonly label: string;
  readonly starts: ReadonlyMap<string, Start>;
  readonly remarks: string[];
  readonly stop: () => Promise<void>;
}

const inProcesses = async (
  { name, label, command }: Runtime,
  { subjects, server }: Bench,
): Promise<Place> => {
  const starts = new Map<string, Start>();
  for (const { name: client } of subjects) {
    const file = await buildFirstCall(client, server);
    starts.set(client, async () => {
      const { line, took } = await firstLine([...command, file]);
      if (!/^cs_\w+$/.test(line)) throw new Error(`said ${line}`);
      return took;
    });
  }
  return { name, label, starts, remarks: [], stop: async () => {} };
};

const inIsolates = async ({ subjects, server }: Bench): Promise<Place> => {
  const isolates = await startIsolates();
  const starts = new Map<string, Start>();
  const remarks: string[] = [];
  for (const { name } of subjects) {
    const bundle = await bundleForWorker(name, server);
    if ("missing" in bundle) {
      remarks.push(`Workers, \`${name}\`: does not build without \`nodejs_compat\``);
      continue;
    }
    starts.set(name, async () => {
      const began = performance.now();
      const text = await isolates.run(bundle.code);
      if (!/^cs_\w+$/.test(text)) throw new Error(text);
      return performance.now() - began;
    });
  }
  const { stop } = isolates;
  return { name: "workers", label: "a Worker's isolate", starts, remarks, stop };
};

const runIn = async ({ starts, remarks, label }: Place, rounds: number) => {
  const times = new Map<string, number[]>();
  for (let round = rounds === 1 ? 0 : -1; round < rounds; round++) {
    calibrate();
    const first = times.size === 0;
    const names = [...starts.keys()].filter((name) => first || times.has(name));
    if (round % 2) names.reverse();
    for (const name of names) {
      try {
        const took = (await starts.get(name)?.()) ?? Number.NaN;
        // The round before the first fills the caches of the disk.
        times.set(name, round < 0 ? [] : [...(times.get(name) ?? []), took]);
      } catch (error) {
        times.delete(name);
        remarks.push(`${label}, \`${name}\`: ${reasonOf(error)}`);
      }
    }
  }
  return times;
};

/** From nothing to the first call answered. */
export const coldStart = async (bench: Bench): Promise<Section> => {
  const { smoke, subjects, runtimes } = bench;
  const tables: Table[] = [];
  const targets: Target[] = [];
  const standings: Standing[] = [];
  const plots: Plot[] = [];
  const remarks: string[] = [];
  const raw: Record<string, unknown> = {};
  const makers = [
    ...runtimes.map((runtime) => () => inProcesses(runtime, bench)),
    () => inIsolates(bench),
  ];
  for (const make of makers) {
    const place = await make();
    const times = await runIn(place, smoke ? 1 : place.name === "workers" ? 30 : 16);
    await place.stop();
    remarks.push(...place.remarks);
    const of = (name: string) => times.get(name) ?? [];
    const measured = subjects.filter(({ name }) => of(name).length > 0);
    tables.push({
      title: place.label,
      columns: ["client", "ms", "x the floor"],
      rows: measured.map(({ name, label }) => [
        label,
        spread(summary(of(name))),
        spread(ratio(of(name), of("floor"))),
      ]),
    });
    plots.push({
      file: `cold-start-${place.name}`,
      title: `From nothing to the first call answered, ${place.label}`,
      unit: "ms, less is better",
      bars: measured.map((each) => {
        const { median: value, low, high } = summary(of(each.name));
        return { label: each.label, value, low, high, kind: kindOf(each) };
      }),
    });
    const judged = judge(place, measured, of);
    targets.push(...judged.targets);
    standings.push(...judged.standings);
    raw[place.name] = Object.fromEntries(times);
  }
  return {
    title: "Cold start",
    how: "A fresh process, from spawn to the id of the first call on its standard output, from the files that npm installs; for Workers, a fresh isolate in a workerd that runs, from sending it the script (one minified bundle) to its response, which holds the id. Every call goes to the loopback server.",
    tables,
    targets,
    standings,
    plots,
    remarks,
    raw,
  };
};
