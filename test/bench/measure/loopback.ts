import { type Bench, kindOf, leastOf } from "../bench.ts";
import { number, spread } from "../format.ts";
import { goals } from "../goals.ts";
import { interleave } from "../rounds.ts";
import { node } from "../runtimes.ts";
import type { Plot, Section, Standing, Table, Target } from "../section.ts";
import { ratio, summary } from "../statistics.ts";

/** How many calls are in flight, and how many of a round open the connections first. */
const steps = [
  { inFlight: 1, calls: 4000, warmUp: 20 },
  { inFlight: 50, calls: 4000, warmUp: 150 },
  { inFlight: 500, calls: 4000, warmUp: 750 },
] as const;

/** Calls over HTTP to a server in a process of its own. */
export const loopback = async (bench: Bench): Promise<Section> => {
  const { smoke, subjects, server, files } = bench;
  const tables: Table[] = [];
  const targets: Target[] = [];
  const standings: Standing[] = [];
  const plots: Plot[] = [];
  const remarks: string[] = [];
  const raw: Record<string, unknown> = {};
  const entries = subjects.map(({ name, slow }) => ({
    name,
    slow,
    command: [...node.command, files.loop ?? "", files[name] ?? "", server],
  }));
  for (const full of smoke ? steps.slice(0, 1) : steps) {
    const { inFlight } = full;
    const ask = smoke ? { inFlight, calls: inFlight, warmUp: 0 } : full;
    const warmUp = smoke ? ask : { inFlight, calls: 1, warmUp: 8000 };
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
    const peers = measured.filter(({ peer }) => peer);
    const slowness = ({ name }: { readonly name: string }) => -summary(rates(name)).median;
    const best = leastOf(peers, slowness);
    const bestOnFetch = leastOf(
      peers.filter(({ transport }) => transport === "fetch"),
      slowness,
    );
    for (const { entry, client, floor, floorLabel, rate, overPeers } of goals) {
      const least = rate[inFlight] ?? Number.NaN;
      const part = ratio(rates(client), rates(floor));
      targets.push({
        goal: `${inFlight} in flight: ${entry} places at least ${least} of the calls a second of ${floorLabel}`,
        measured: spread(part),
        met: part.median >= least,
      });
      if (bestOnFetch && inFlight === 50) {
        const times = ratio(rates(client), rates(bestOnFetch.name));
        targets.push({
          goal: `50 in flight: ${entry} places at least ${overPeers} x the calls a second of the best peer on \`fetch\``,
          measured: `${spread(times)} x ${bestOnFetch.label} (${number(-slowness(bestOnFetch))} a second)`,
          met: times.median >= overPeers,
        });
      }
      if (!best) continue;
      const ahead = ratio(rates(client), rates(best.name)).median;
      const where = `${inFlight} in flight`;
      standings.push({ entry, what: "calls a second over HTTP", where, other: best.label, ahead });
    }
    raw[inFlight] = Object.fromEntries(told);
  }
  return {
    title: "Loopback HTTP",
    how: "Node 24, HTTP/1.1 on 127.0.0.1, the server in a process of its own on the same machine; 4 000 calls a round, after 8 000 that are not counted. Each round starts with calls that are not counted, which open the connections.",
    tables,
    targets,
    standings,
    plots,
    remarks,
    raw,
  };
};
