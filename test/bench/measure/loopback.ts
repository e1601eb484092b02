import { type Bench, kindOf } from "../bench.ts";
import { number, spread } from "../format.ts";
import { interleave } from "../rounds.ts";
import { node } from "../runtimes.ts";
import type { Plot, Section, Table, Target } from "../section.ts";
import { ratio, summary } from "../statistics.ts";

/** How many calls are in flight, how many make a round, and how much of the floor's rate is the goal. */
const steps = [
  { inFlight: 1, calls: 400, warmUp: 20, ofFloor: 0.85 },
  { inFlight: 50, calls: 1500, warmUp: 150, ofFloor: 0.65 },
  { inFlight: 500, calls: 2500, warmUp: 750, ofFloor: 0.65 },
] as const;

/** Calls over HTTP to a server in a process of its own. */
export const loopback = async (bench: Bench): Promise<Section> => {
  const { smoke, subjects, server, files } = bench;
  const tables: Table[] = [];
  const targets: Target[] = [];
  const plots: Plot[] = [];
  const remarks: string[] = [];
  const raw: Record<string, unknown> = {};
  const entries = subjects.map(({ name, slow }) => ({
    name,
    slow,
    command: [...node.command, files.loop ?? "", files[name] ?? "", server],
  }));
  for (const { ofFloor, ...full } of smoke ? steps.slice(0, 1) : steps) {
    const { inFlight } = full;
    const ask = smoke ? { inFlight, calls: inFlight, warmUp: 0 } : full;
    const warmUp = smoke ? ask : { inFlight, calls: 1500, warmUp: 500 };
    const { told, failed } = await interleave(entries, smoke ? 1 : 10, ask, warmUp);
    const rates = (name: string) => (told.get(name) ?? []).map(({ wall }) => 1e6 / wall);
    const measured = subjects.filter(({ name }) => told.has(name));
    tables.push({
      title: `${inFlight} in flight`,
      columns: ["client", "calls a second", "of the floor's", "p99, ms"],
      rows: measured.map(({ name, label }) => [
        label,
        spread(summary(rates(name))),
        spread(ratio(rates(name), rates("floor"))),
        spread(summary((told.get(name) ?? []).map(({ p99 }) => p99 / 1000))),
      ]),
    });
    for (const [name, reason] of failed)
      remarks.push(`${inFlight} in flight, \`${name}\`: ${reason}`);
    plots.push({
      file: `loopback-${inFlight}`,
      title: `HTTP on loopback, ${inFlight} in flight, Node 24`,
      unit: "calls a second, more is better",
      bars: measured.map((each) => {
        const { median: value, low, high } = summary(rates(each.name));
        return { label: each.label, value, low, high, kind: kindOf(each) };
      }),
    });
    const floor = ratio(rates("outdial"), rates("floor"));
    targets.push({
      goal: `${inFlight} in flight: at least ${ofFloor} of the floor's calls a second`,
      measured: spread(floor),
      met: floor.median >= ofFloor,
    });
    const [best] = measured
      .filter(({ peer }) => peer)
      .map(({ name, label }) => ({ name, label, median: summary(rates(name)).median }))
      .toSorted((a, b) => b.median - a.median);
    if (best && inFlight === 50) {
      const ahead = ratio(rates("outdial"), rates(best.name));
      targets.push({
        goal: "50 in flight: at least 1.3 x the calls a second of the best peer",
        measured: `${spread(ahead)} x ${best.label} (${number(best.median)} a second)`,
        met: ahead.median >= 1.3,
      });
    }
    raw[inFlight] = Object.fromEntries(told);
  }
  return {
    title: "Loopback HTTP",
    how: "Node 24, HTTP/1.1 on 127.0.0.1, the server in a process of its own on the same machine. Each round starts with calls that are not counted, which open the connections.",
    tables,
    targets,
    plots,
    remarks,
    raw,
  };
};
