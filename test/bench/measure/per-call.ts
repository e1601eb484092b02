import { type Bench, kindOf } from "../bench.ts";
import { number, spread } from "../format.ts";
import { interleave } from "../rounds.ts";
import type { Runtime } from "../runtimes.ts";
import type { Plot, Section, Table, Target } from "../section.ts";
import { ratio, summary } from "../statistics.ts";
import type { Subject } from "../subjects.ts";
import type { Told } from "../work/loop.ts";

const mark = ({ transport }: Pick<Subject, "transport">): string =>
  transport === "axios" ? " ¹" : "";

/** What a call costs without the network: the answer stands in for it. */
export const perCall = async (bench: Bench): Promise<Section> => {
  const { smoke, subjects, runtimes, files } = bench;
  const tables: Table[] = [];
  const targets: Target[] = [];
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
          files.loop ?? "",
          files[name] ?? "",
          "stub",
          ...(transport === "axios" ? [files.axios ?? ""] : []),
        ],
      }));
    const short = { calls: 50, inFlight: 1, warmUp: 0 };
    const { told, failed } = smoke
      ? await interleave(entries(runtime.command), 1, short, short)
      : await interleave(
          entries(runtime.command),
          24,
          { calls: 600, inFlight: 1, warmUp: 200 },
          { calls: 3000, inFlight: 1, warmUp: 2000 },
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
    const of = (name: string, part: (each: Told) => number | undefined) =>
      (told.get(name) ?? []).map((each) => part(each) ?? Number.NaN);
    const wall = (name: string) => of(name, (each) => each.wall);
    const cpu = (name: string) => of(name, (each) => each.cpu);
    const measured = subjects.filter(({ name }) => told.has(name));
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
        const bytes = counted?.told.get(name)?.map((each) => each.bytes ?? Number.NaN);
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
    const fetching = measured
      .filter(({ peer, transport }) => peer && transport === "fetch")
      .map(({ name, label }) => ({ name, label, median: summary(cpu(name)).median }))
      .toSorted((a, b) => a.median - b.median);
    const [fastest] = fetching;
    const goal = (against: string, label: string, most: number) => {
      const byWall = ratio(wall("outdial"), wall(against));
      const byCpu = ratio(cpu("outdial"), cpu(against));
      targets.push({
        goal: `${runtime.label}: at most ${most} ${label}, by the wall and by the processor`,
        measured: `wall ${spread(byWall)}, processor ${spread(byCpu)}`,
        met: byWall.median <= most && byCpu.median <= most,
      });
    };
    goal("floor", "x the floor", 3.5);
    if (fastest) goal(fastest.name, `of the fastest fetch-based peer (${fastest.label})`, 0.65);
    raw[runtime.name] = {
      rounds: Object.fromEntries(told),
      bytes: Object.fromEntries(counted?.told ?? []),
    };
  };

  for (const runtime of runtimes) await measure(runtime);
  return {
    title: "Per call",
    how: "One call after the other, the answer of a stub in the place of the network (`globalThis.fetch`), with the type and length that a server tells. Bytes: what the heap grew by while nothing was collected; Bun doesn't tell. ¹ axios: its adapter is stubbed, so nothing of `fetch` is left in its figure, and it is a lower bound. `@vonage/voice` is not in the plots, as its signature dwarfs the rest.",
    tables,
    targets,
    plots,
    remarks,
    raw,
  };
};
