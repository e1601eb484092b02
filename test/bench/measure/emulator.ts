import type { Bench } from "../bench.ts";
import { number, spread } from "../format.ts";
import { emulatorRate } from "../goals.ts";
import { interleave } from "../rounds.ts";
import type { Section, Target } from "../section.ts";
import { summary } from "../statistics.ts";

/** Whole calls through the emulator, in one process. */
export const emulator = async ({ smoke, runtimes, files }: Bench): Promise<Section> => {
  const rows: string[][] = [];
  const targets: Target[] = [];
  const remarks: string[] = [];
  const raw: Record<string, unknown> = {};
  for (const inFlight of [1, 50]) {
    const ask = { inFlight, calls: smoke ? 50 : 4000, warmUp: 0 };
    const { told, failed } = await interleave(
      runtimes.map(({ name, command }) => ({
        name,
        command: [...command, files.loop ?? "", files.lifecycle ?? "", "none"],
      })),
      smoke ? 1 : 10,
      ask,
      smoke ? ask : { inFlight, calls: 1, warmUp: 8000 },
    );
    for (const { name, label } of runtimes) {
      const rounds = told.get(name);
      if (!rounds) {
        remarks.push(`${label}: ${failed.get(name)}`);
        continue;
      }
      const rates = summary(rounds.map(({ wall }) => 1e6 / wall));
      rows.push([
        label,
        `${inFlight}`,
        spread(rates),
        spread(summary(rounds.map(({ cpu }) => cpu))),
      ]);
      if (name === "node" && inFlight === 1) {
        targets.push({
          goal: `Node 24, one at a time: at least ${number(emulatorRate)} calls a second`,
          measured: spread(rates),
          met: rates.median >= emulatorRate,
        });
      }
      raw[`${name} ${inFlight}`] = rounds;
    }
  }
  return {
    title: "Emulator",
    how: "Whole calls in one process, instant clock: a `Client` places a call, the emulator rings, answers, fetches the flow, follows it, and delivers four signed notifications; the round waits until each is over and looks at its history.",
    tables: [
      { columns: ["runtime", "in flight", "calls a second", "µs of processor a call"], rows },
    ],
    targets,
    plots: [],
    remarks,
    raw,
  };
};
