// The time from nothing to the first call: processes, and isolates of Workers.
import { buildFirstCall, bundleForWorker } from "../build.ts";
import { isId, type Runtime, runToFirstLine, startIsolates } from "../processes.ts";
import { calibrate, ratio, reasonOf, spread, summary } from "../rounds.ts";
import {
  type Bench,
  kindOf,
  leastOf,
  type Plot,
  type Section,
  type Standing,
  type Table,
  type Target,
} from "../section.ts";
import { goals, type Subject } from "../subjects.ts";

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
      const { line, took } = await runToFirstLine([...command, file]);
      if (!isId(line)) throw new Error(`printed ${line}`);
      return took;
    });
  }
  return { name, label, starts, remarks: [], stop: async () => {} };
};

const inIsolates = async ({ subjects, server }: Bench): Promise<Place> => {
  const isolates = await startIsolates();
  const starts = new Map<string, Start>();
  const remarks: string[] = [];
  for (const subject of subjects) {
    const { name } = subject;
    const bundle = await bundleForWorker(subject, server);
    if ("missing" in bundle) {
      remarks.push(`Workers, \`${name}\`: does not build without \`nodejs_compat\``);
      continue;
    }
    starts.set(name, async () => {
      const began = performance.now();
      const text = await isolates.run(bundle.code);
      if (!isId(text)) throw new Error(text);
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

/** Whether each entry starts soon enough in one place, and how it stands there. */
export const judge = (
  { name: at, label: where }: { readonly name: string; readonly label: string },
  measured: readonly Subject[],
  of: (name: string) => readonly number[],
): Required<Pick<Section, "targets" | "standings">> => {
  const targets: Target[] = [];
  const standings: Standing[] = [];
  const peers = measured.filter(({ peer }) => peer);
  const time = ({ name }: Subject) => summary(of(name)).median;
  const fastest = leastOf(peers, time);
  for (const { entry, client, floor, floorLabel, coldStart, behind } of goals) {
    const goal = (rule: string, times: ReturnType<typeof ratio>, met: boolean, whose = "") =>
      targets.push({ goal: `${where}: ${entry} ${rule}`, measured: spread(times) + whose, met });
    const most = coldStart[at];
    if (most) {
      const times = ratio(of(client), of(floor));
      goal(`takes at most ${most} x ${floorLabel}`, times, times.median <= most);
    }
    const excepted = peers.filter(({ name }) => name in behind);
    const rival = leastOf(
      peers.filter(({ name }) => !(name in behind)),
      time,
    );
    if (rival) {
      const times = ratio(of(client), of(rival.name));
      const which = excepted.length > 0 ? "every other peer" : "every peer";
      goal(`is ahead of ${which} that runs there`, times, times.median < 1, ` of ${rival.label}`);
    }
    for (const { name, label } of excepted) {
      const limit = behind[name] ?? 1;
      const times = ratio(of(client), of(name));
      goal(`takes at most ${limit} x ${label}`, times, times.median <= limit);
    }
    if (!fastest) continue;
    const ahead = ratio(of(fastest.name), of(client)).median;
    standings.push({
      entry,
      what: "from nothing to the first call",
      where,
      other: fastest.label,
      ahead,
    });
  }
  return { targets, standings };
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
