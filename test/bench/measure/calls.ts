// The time of a call: without the network, and over HTTP.
import type { Runtime } from "../processes.ts";
import { interleave, number, ratio, spread, summary } from "../rounds.ts";
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
import type { Round } from "../work/calls.ts";

const mark = ({ transport }: Pick<Subject, "transport">): string =>
  transport === "node:http" ? " ¹" : "";

/** What a call costs without the network: the answer stands in for it. */
export const perCall = async (bench: Bench): Promise<Section> => {
  const { smoke, subjects, runtimes, files } = bench;
  const tables: Table[] = [];
  const targets: Target[] = [];
  const standings: Standing[] = [];
  const plots: Plot[] = [];
  const remarks: string[] = [];
  const raw: Record<string, unknown> = {};

  const measure = async (runtime: Runtime) => {
    const entries = (command: readonly string[]) =>
      subjects.map(({ name, transport, slow }) => ({
        name,
        slow,
        command: [
          ...command,
          files.calls ?? "",
          "rounds",
          files[name] ?? "",
          transport === "node:http" ? "stub-axios" : "stub-fetch",
        ],
      }));
    const short = { calls: 50, inFlight: 1, warmUp: 0 };
    const { measured: rounds, failed } = smoke
      ? await interleave(entries(runtime.command), 1, short, short)
      : await interleave(
          entries(runtime.command),
          16,
          { calls: 4000, inFlight: 1, warmUp: 200 },
          { calls: 1, inFlight: 1, warmUp: 8000 },
        );
    const counted =
      runtime.withoutCollections && !smoke
        ? await interleave(
            entries(runtime.withoutCollections),
            5,
            { calls: 1000, inFlight: 1, warmUp: 10 },
            { calls: 1000, inFlight: 1, warmUp: 1000 },
          )
        : undefined;
    const of = (name: string, part: (each: Round) => number | undefined) =>
      (rounds.get(name) ?? []).map((each) => part(each) ?? Number.NaN);
    const wall = (name: string) => of(name, (each) => each.wall);
    const cpu = (name: string) => of(name, (each) => each.cpu);
    const measured = subjects.filter(({ name }) => rounds.has(name));
    tables.push({
      title: runtime.label,
      columns: [
        "client",
        "µs a call",
        "µs of processor",
        "x the floor (wall)",
        "(processor)",
        "bytes allocated",
      ],
      rows: measured.map(({ name, label, transport }) => {
        const bytes = counted?.measured.get(name)?.map((each) => each.bytes ?? Number.NaN);
        return [
          label + mark({ transport }),
          spread(summary(wall(name))),
          spread(summary(cpu(name))),
          spread(ratio(wall(name), wall("floor"))),
          spread(ratio(cpu(name), cpu("floor"))),
          bytes ? number(summary(bytes).median) : "–",
        ];
      }),
    });
    for (const [name, reason] of failed) remarks.push(`${runtime.label}, \`${name}\`: ${reason}`);
    plots.push({
      file: `per-call-${runtime.name}`,
      title: `A call without the network, ${runtime.label}`,
      unit: "µs, less is better",
      bars: measured
        .filter(({ slow }) => !slow)
        .map((each) => {
          const { median: value, low, high } = summary(wall(each.name));
          return { label: each.label + mark(each), value, low, high, kind: kindOf(each) };
        }),
    });
    const fastest = leastOf(
      measured.filter((each) => each.peer && each.transport === "fetch"),
      ({ name }) => summary(wall(name)).median,
    );
    for (const { entry, client, floor, floorLabel, perCall: most } of goals) {
      const times = ratio(wall(client), wall(floor));
      targets.push({
        goal: `${runtime.label}: ${entry} takes at most ${most[runtime.name]} x ${floorLabel}`,
        measured: `${spread(times)}; of the processor ${spread(ratio(cpu(client), cpu(floor)))}`,
        met: times.median <= most[runtime.name],
      });
      if (!fastest) continue;
      const ahead = ratio(wall(fastest.name), wall(client)).median;
      const what = "the time of a call without the network, among those on `fetch`";
      standings.push({ entry, what, where: runtime.label, other: fastest.label, ahead });
    }
    raw[runtime.name] = {
      rounds: Object.fromEntries(rounds),
      bytes: Object.fromEntries(counted?.measured ?? []),
    };
  };

  for (const runtime of runtimes) await measure(runtime);
  return {
    title: "Per call",
    how: "One call after the other, the answer of a stub in the place of the network (`globalThis.fetch`), with the type and length that a server tells; 4 000 calls a round, after 8 000 that are not counted. The goals are by the wall. Bytes: what the heap grew by while nothing was collected; Bun doesn't tell. ¹ Peers on `node:http` are on it by axios: its adapter is stubbed, so nothing of HTTP is left in their figures, which are lower bounds. `@vonage/voice` is not in the plots, as its signature dwarfs the rest.",
    tables,
    targets,
    standings,
    plots,
    remarks,
    raw,
  };
};

/** How many calls are in flight, and how many of a round open the connections first. */
const steps = [
  { inFlight: 1, calls: 4000, warmUp: 20 },
  { inFlight: 50, calls: 4000, warmUp: 150 },
  { inFlight: 500, calls: 4000, warmUp: 750 },
] as const;

/** Calls over HTTP to a server in a process of its own. */
export const loopback = async (bench: Bench): Promise<Section> => {
  const { smoke, subjects, node, server, files } = bench;
  const tables: Table[] = [];
  const targets: Target[] = [];
  const standings: Standing[] = [];
  const plots: Plot[] = [];
  const remarks: string[] = [];
  const raw: Record<string, unknown> = {};
  const entries = subjects.map(({ name, slow }) => ({
    name,
    slow,
    command: [...node.command, files.calls ?? "", "rounds", files[name] ?? "", server],
  }));
  for (const full of smoke ? steps.slice(0, 1) : steps) {
    const { inFlight } = full;
    const ask = smoke ? { inFlight, calls: inFlight, warmUp: 0 } : full;
    const warmUp = smoke ? ask : { inFlight, calls: 1, warmUp: 8000 };
    const { measured: rounds, failed } = await interleave(entries, smoke ? 1 : 10, ask, warmUp);
    const rates = (name: string) => (rounds.get(name) ?? []).map(({ wall }) => 1e6 / wall);
    const measured = subjects.filter(({ name }) => rounds.has(name));
    tables.push({
      title: `${inFlight} in flight`,
      columns: ["client", "calls a second", "of the floor's", "p99, ms"],
      rows: measured.map(({ name, label }) => [
        label,
        spread(summary(rates(name))),
        spread(ratio(rates(name), rates("floor"))),
        spread(summary((rounds.get(name) ?? []).map(({ p99 }) => p99 / 1000))),
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
    raw[inFlight] = Object.fromEntries(rounds);
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
