// The heap after many calls, and the resident memory after an import.
import { runToFirstLine } from "../processes.ts";
import { kB, number, reasonOf, spread, summary } from "../rounds.ts";
import { type Bench, kindOf, type Section, type Target } from "../section.ts";
import { goals } from "../subjects.ts";
import type { Heap } from "../work/calls.ts";

/** Less than one byte a call is no growth. */
const noise = 99_000;

const ways = [
  { signal: "none", lanes: 1 },
  { signal: "none", lanes: 500 },
  { signal: "signal", lanes: 1 },
  { signal: "signal", lanes: 500 },
] as const;

/** What stays after many calls, and what an import takes. */
export const memory = async (bench: Bench): Promise<Section> => {
  const { smoke, subjects, runtimes, node, files } = bench;
  const targets: Target[] = [];
  const remarks: string[] = [];
  const rows: string[][] = [];
  const raw: Record<string, unknown> = {};
  const total = smoke ? 1000 : 100_000;
  const labelOf = (client: string) => subjects.find(({ name }) => name === client)?.label ?? client;
  for (const runtime of runtimes) {
    for (const client of [...goals.map((each) => each.client), "floor"]) {
      const worst = {
        growth: Number.NEGATIVE_INFINITY,
        later: Number.NEGATIVE_INFINITY,
        warnings: 0,
      };
      for (const { signal, lanes } of smoke ? ways.slice(-1) : ways) {
        const args = ["heap", files[client] ?? "", signal, `${lanes}`, `${total}`];
        const { line } = await runToFirstLine([...runtime.withGc, files.calls ?? "", ...args]);
        const { marks, warnings }: Heap = JSON.parse(line);
        const heaps = marks.map(({ heap }) => heap);
        const growth = (heaps.at(-1) ?? Number.NaN) - (heaps[0] ?? Number.NaN);
        raw[`${runtime.name} ${client} ${signal} ${lanes}`] = { marks, warnings };
        rows.push([
          runtime.label,
          labelOf(client),
          signal === "signal" ? "one, shared" : "none",
          `${lanes}`,
          kB(heaps[0] ?? 0),
          kB(heaps.at(-1) ?? 0),
          number(growth / total),
          warnings.join("; ") || "none",
        ]);
        worst.growth = Math.max(worst.growth, growth);
        worst.later = Math.max(worst.later, (heaps.at(-1) ?? 0) - (heaps[1] ?? 0));
        worst.warnings += warnings.length;
      }
      const entry = goals.find((each) => each.client === client)?.entry;
      if (!entry) continue;
      targets.push({
        goal: `${runtime.label}: a call through ${entry} leaves nothing on the heap (less than 1 byte)`,
        measured: `${number(worst.growth / total)} at worst; ${number(worst.later / total / 0.8)} from the ${number(total / 5)}th call on, when all is compiled`,
        met: worst.growth < noise,
      });
      targets.push({
        goal: `${runtime.label}: no warning of listeners from ${entry}`,
        measured: `${worst.warnings} warnings`,
        met: worst.warnings === 0,
      });
    }
  }

  const rss = new Map<string, number[]>();
  for (let round = 0; round < (smoke ? 1 : 9); round++) {
    for (const name of ["", ...subjects.map(({ name }) => name)].slice(0, smoke ? 3 : undefined)) {
      const module = name ? [files[name] ?? ""] : [];
      const args = ["resident", ...module];
      try {
        const { line } = await runToFirstLine([...node.command, files.calls ?? "", ...args]);
        rss.set(name, [...(rss.get(name) ?? []), Number(line)]);
      } catch (error) {
        if (round === 0) remarks.push(`\`${name}\`: ${reasonOf(error)}`);
      }
    }
  }
  raw.rss = Object.fromEntries(rss);
  const bare = summary(rss.get("") ?? []).median;
  const imported = subjects
    .filter(({ name }) => rss.has(name))
    .map((each) => ({
      ...each,
      ...summary((rss.get(each.name) ?? []).map((bytes) => (bytes - bare) / 1e6)),
      rounds: 0,
    }));
  return {
    title: "Memory",
    how: `The heap after full collections, after ${number(total / 100)} calls and after ${number(total)}, stubbed, with and without one signal that all calls share and that outlives them.`,
    tables: [
      {
        columns: [
          "runtime",
          "client",
          "signal",
          "in flight",
          "at first",
          "at last",
          "bytes a call",
          "warnings",
        ],
        rows,
      },
      {
        title: "Resident memory after import, Node 24",
        columns: ["client", "MB more than a bare process"],
        rows: imported.map((each) => [each.label, spread(each)]),
      },
    ],
    targets,
    plots: [
      {
        file: "memory-import",
        title: "Resident memory after import, Node 24, above a bare process",
        unit: "MB, less is better",
        bars: imported.map((each) => ({
          label: each.label,
          value: Math.max(0, each.median),
          low: Math.max(0, each.low),
          high: Math.max(0, each.high),
          kind: kindOf(each),
        })),
      },
    ],
    remarks,
    raw,
  };
};
