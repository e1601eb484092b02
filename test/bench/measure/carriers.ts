// A call with a carrier: outdial, and the carrier's own client, doing the same.
import process from "node:process";
import { gzipSync } from "node:zlib";
import {
  type Bundle,
  buildFirstCall,
  bundleForNode,
  bundleForWorker,
  isInstalled,
} from "../build.ts";
import { isId, runToFirstLine, startIsolates } from "../processes.ts";
import { calibrate, interleave, kB, ratio, reasonOf, spread, summary } from "../rounds.ts";
import type { Bench, Section, Table } from "../section.ts";
import { carriers, type Subject } from "../subjects.ts";

const sizeOf = (bundle: Bundle): number =>
  "missing" in bundle ? Number.NaN : gzipSync(bundle.code, { level: 9 }).length;

/** Everyone's milliseconds from nothing to the first call, round after round in turn. */
const startsOf = async (
  starts: ReadonlyMap<string, () => Promise<string>>,
  rounds: number,
  remarks: string[],
): Promise<ReadonlyMap<string, readonly number[]>> => {
  const times = new Map<string, number[]>();
  for (let round = -1; round < rounds; round++) {
    calibrate();
    const names = round % 2 ? [...starts.keys()].reverse() : [...starts.keys()];
    for (const name of names) {
      try {
        const began = performance.now();
        const id = await starts.get(name)?.();
        const took = performance.now() - began;
        if (!id || !isId(id)) throw new Error(`It has printed ${id}`);
        // The round before the first fills the caches of the disk.
        if (round >= 0) times.set(name, [...(times.get(name) ?? []), took]);
      } catch (error) {
        remarks.push(`from nothing to the first call, \`${name}\`: ${reasonOf(error)}`);
      }
    }
  }
  return times;
};

/** What a call takes with each carrier: without the network, from nothing, and in bytes. */
export const withCarriers = async ({ smoke, node, server, files }: Bench): Promise<Section> => {
  const remarks: string[] = [];
  const pairs = carriers.flatMap(({ label, ours, peer: some }) =>
    some.flatMap((peer) => {
      const isThere = isInstalled(peer.peer ?? "");
      if (!isThere) remarks.push(`\`${peer.peer}\` is not installed`);
      return isThere ? [{ label, ours, peer }] : [];
    }),
  );
  const subjects = pairs.flatMap(({ ours, peer }) => [ours, peer]);

  const entries = subjects.map(({ name, transport, slow }) => {
    const stub = transport === "node:http" ? "stub-axios" : "stub-fetch";
    return {
      name,
      slow,
      command: [...node.command, files.calls ?? "", "rounds", files[name] ?? "", stub],
    };
  });
  const [rounds, ask, warmUp] = smoke
    ? [1, { calls: 50, inFlight: 1, warmUp: 0 }, { calls: 50, inFlight: 1, warmUp: 0 }]
    : [16, { calls: 4000, inFlight: 1, warmUp: 200 }, { calls: 1, inFlight: 1, warmUp: 8000 }];
  const { measured, failed } = await interleave(entries, rounds, ask, warmUp);
  for (const [name, reason] of failed) remarks.push(`\`${name}\`: ${reason}`);

  const processes = new Map<string, () => Promise<string>>();
  const workers = new Map<string, () => Promise<string>>();
  const sizes = new Map<string, { readonly worker: number; readonly node: number }>();
  const isolates = await startIsolates();
  // A Worker has no environment: its bundle begins with the key.
  const { BENCH_RSA_KEY } = process.env;
  const environment = `globalThis.process = ${JSON.stringify({ env: { BENCH_RSA_KEY } })};`;
  for (const subject of subjects) {
    const file = await buildFirstCall(subject.name, server);
    processes.set(subject.name, async () => (await runToFirstLine([...node.command, file])).line);
    const worker = await bundleForWorker(subject, server);
    if ("code" in worker) {
      workers.set(subject.name, () => isolates.run(environment + worker.code));
    }
    const forNode = await bundleForNode(subject, server);
    sizes.set(subject.name, { worker: sizeOf(worker), node: sizeOf(forNode) });
  }
  const inProcesses = await startsOf(processes, smoke ? 1 : 16, remarks);
  const inWorkers = await startsOf(workers, smoke ? 1 : 16, remarks);
  await isolates.stop();

  const wall = (name: string) => (measured.get(name) ?? []).map((each) => each.wall);
  const starts = (name: string) => inProcesses.get(name) ?? [];
  const bytes = (value = Number.NaN): string => (value > 0 ? kB(value) : "doesn't build");
  const row = ({ name, label, transport }: Subject, ours: Subject): string[] => [
    transport === "node:http" ? `${label} ¹` : label,
    spread(summary(wall(name))),
    spread(ratio(wall(name), wall(ours.name))),
    spread(summary(starts(name))),
    spread(ratio(starts(name), starts(ours.name))),
    inWorkers.has(name) ? spread(summary(inWorkers.get(name) ?? [])) : "–",
    bytes(sizes.get(name)?.worker),
    bytes(sizes.get(name)?.node),
  ];
  const tables = pairs.map(
    ({ label, ours, peer }): Table => ({
      title: `A call with ${label}`,
      columns: [
        "client",
        "µs a call",
        "x outdial",
        "first call, ms",
        "x outdial",
        "in a new isolate, ms",
        "Worker, gzip",
        "Node, gzip",
      ],
      rows: [row(ours, ours), row(peer, ours)],
    }),
  );
  return {
    title: "Carriers",
    how: "Node 24. The same call by outdial and by the carrier's own client, to a server that answers as the carrier does: its status and all of its fields. A call without the network, from nothing to the first call, and the bytes of one call, each measured as in the sections above. Vonage's API asks for a JWT that is signed with RSA. ¹ The adapter of axios is stubbed: a lower bound.",
    tables,
    targets: [],
    plots: [],
    remarks,
    raw: {
      rounds: Object.fromEntries(measured),
      processes: Object.fromEntries(inProcesses),
      workers: Object.fromEntries(inWorkers),
      sizes: Object.fromEntries(sizes),
    },
  };
};
