import { type Bench, kindOf, leastOf } from "../bench.ts";
import { number, spread } from "../format.ts";
import { goals } from "../goals.ts";
import { interleave } from "../rounds.ts";
import type { Runtime } from "../runtimes.ts";
import type { Plot, Section, Standing, Table, Target } from "../section.ts";
import { ratio, summary } from "../statistics.ts";
import type { Subject } from "../subjects.ts";
import type { Told } from "../work/loop.ts";

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
          files.loop ?? "",
          files[name] ?? "",
          "stub",
          ...(transport === "node:http" ? [files.axios ?? ""] : []),
        ],
      }));
    const short = { calls: 50, inFlight: 1, warmUp: 0 };
    const { told, failed } = smoke
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
      rounds: Object.fromEntries(told),
      bytes: Object.fromEntries(counted?.told ?? []),
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
