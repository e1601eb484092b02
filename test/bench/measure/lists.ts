// A list: in and out of a file, a step, through the emulator, its rate, and on Workers.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { listOf, numbersOf } from "../../campaign/csv.ts";
import { startWorker } from "../../campaign/worker.ts";
import { node, runToFirstLine, start } from "../processes.ts";
import { number, ratio, spread, summary } from "../rounds.ts";
import type { Bench, Section, Target } from "../section.ts";
import type { KeptRate, StepTimes, Transfer } from "../work/list.ts";
import type { DialAsk, DialRates } from "../work/list-dial.ts";

/** What a list is to reach. */
const goals = {
  /** Contacts a second, into a file. */
  added: 110_000,
  /** MB, with all of the list in and out. */
  resident: 160,
  /** Microseconds of a step for each call, beside its signatures and its commits. */
  step: 40,
  /** Part of the calls a second of a bare loop. */
  dialled: 0.7,
  /** Times the cost in a short list: the same, but for what is noise. */
  long: 1.2,
  /** Part of the rate, to either side. */
  kept: 0.01,
} as const;

/** What is run, and how much of it. */
const full = {
  ...{ contacts: 1_000_000, transfers: 3, steps: 12, calls: 800, dials: 6, dialled: 2_000 },
  ...{ seconds: 60, sharded: 5_000 },
};
const short: typeof full = {
  ...{ contacts: 5_000, transfers: 1, steps: 2, calls: 160, dials: 1, dialled: 100 },
  ...{ seconds: 2, sharded: 200 },
};

const rates = ["5", "50", "200"];

/** How fast a campaign Worker is, in contacts and calls a second. */
interface ShardRates {
  readonly shards: number;
  readonly added: number;
  readonly called: number;
}

/** Calls a list out of one shard, and out of four. */
const dialFromShards = async (
  baseUrl: string,
  contacts: number,
): Promise<readonly ShardRates[]> => {
  const worker = await startWorker({ baseUrl, apiKey: "ak_measure" });
  const ask = async (...asked: Parameters<typeof worker.ask>) =>
    (await worker.ask(...asked)).json();
  const rates: ShardRates[] = [];
  const perSecond = (milliseconds: number): number => (1000 * contacts) / milliseconds;
  try {
    for (const shards of [1, 4]) {
      const plan = { rate: 5_000, concurrency: 1_000_000, window: "always", shards };
      const { id } = await ask("POST", "/campaigns", plan);
      const began = performance.now();
      await ask("PUT", `/campaigns/${id}/contacts`, listOf(numbersOf(contacts)));
      const added = performance.now();
      await ask("POST", `/campaigns/${id}/start`);
      for (let waiting = contacts; waiting > 0; ) {
        await new Promise((resolve) => setTimeout(resolve, 50));
        ({ waiting } = await ask("GET", `/campaigns/${id}/progress`));
      }
      const ended = performance.now();
      rates.push({ shards, added: perSecond(added - began), called: perSecond(ended - added) });
    }
  } finally {
    await worker.close();
  }
  return rates;
};

/** A list: in and out, a step, a dial through the emulator, its rate, and on Workers. */
export const lists = async ({ smoke, files, server }: Bench): Promise<Section> => {
  const much = smoke ? short : full;
  const raw: Record<string, unknown> = {};
  const run = async <Result>(...args: readonly (string | number)[]): Promise<Result> => {
    const words = args.map(String);
    const { line } = await runToFirstLine([...node.command, files.list ?? "", ...words]);
    return JSON.parse(line);
  };

  const into: Transfer[] = [];
  const out: Transfer[] = [];
  for (let round = 0; round < much.transfers; round++) {
    const folder = mkdtempSync(join(tmpdir(), "bench-"));
    const file = join(folder, "people.outdial");
    into.push(await run<Transfer>("in", file, much.contacts));
    out.push(await run<Transfer>("out", file, much.contacts));
    rmSync(folder, { recursive: true });
  }
  const added = summary(into.map(({ rate }) => rate));
  const [most = 0, least = 0] = [into, out].map((transfers) =>
    Math.max(...transfers.map(({ resident }) => resident / 1e6)),
  );

  const step = await run<StepTimes>("steps", much.steps, much.calls, much.contacts);
  const own = summary(step.memory.map((all, round) => all - (step.signatures[round] ?? 0)));
  const commits = summary(step.file.map((all, round) => all - (step.memory[round] ?? 0)));
  const grown = ratio(step.long, step.file);

  const service = await start([...node.command, files.services ?? "", "emulator"]);
  const { baseUrl, apiKey } = JSON.parse(service.firstLine);
  const dialer = await start([...node.command, files["list-dial"] ?? "", baseUrl, apiKey]);
  const ask: DialAsk = { calls: much.dialled, inFlight: 50 };
  const dials: DialRates[] = [];
  await dialer.ask<DialRates>(ask); // not counted
  for (let round = 0; round < much.dials; round++) dials.push(await dialer.ask<DialRates>(ask));
  dialer.stop();
  service.stop();
  const dialled = ratio(
    dials.map(({ list }) => list),
    dials.map(({ bare }) => bare),
  );

  const keptRates = await run<readonly KeptRate[]>("rates", much.seconds, ...rates);
  const shards = await dialFromShards(server, much.sharded);
  Object.assign(raw, { into, out, step, dials, keptRates, shards });

  const targets: Target[] = [
    {
      goal: `a list is added at ${number(goals.added)} contacts a second or more`,
      measured: spread(added),
      met: added.median >= goals.added,
    },
    {
      goal: `${number(much.contacts)} contacts go in, and out, within ${goals.resident} MB, resident`,
      measured: `${number(most)} MB at most, and ${number(least)} MB`,
      met: Math.max(most, least) <= goals.resident,
    },
    {
      goal: `a step's own cost is at most ${goals.step} µs a call, beside its two signatures and its durable commits`,
      measured: `${spread(own)} µs`,
      met: own.median <= goals.step,
    },
    {
      goal: `a call costs the same where ${number(much.contacts)} wait and where a thousand do (at most ${goals.long} x)`,
      measured: `${spread(grown)} x`,
      met: grown.median <= goals.long,
    },
    {
      goal: `a list is dialled through the emulator at ${goals.dialled} of a bare loop's rate or more`,
      measured: spread(dialled),
      met: dialled.median >= goals.dialled,
    },
    ...keptRates.map(({ rate, kept, most }) => ({
      goal: `${rate} calls a second are kept within 1 % over ${much.seconds} s, and never exceeded in any second`,
      measured: `${number(kept)} a second, ${most} at most`,
      met: Math.abs(kept / rate - 1) <= goals.kept && most <= rate,
    })),
  ];
  const row = (label: string, values: readonly number[]) => [label, spread(summary(values))];
  return {
    title: "Lists",
    how: `Node 24, \`node:sqlite\`. In and out: ${number(much.contacts)} contacts into a new file and out of it again, their numbers in no order, each way in a process of its own. A step: calls whose service answers at once, ${much.calls} a round, in batches of 16, from the choice of the contact until the answer is written down; what is durable is what a file costs more than memory. Dialled: ${number(much.dialled)} calls with 50 at once through the emulator in a process of its own (instant clock), each to its last notification; the bare loop counts its notifications and nothing else. Rates: one list after the other on a file, by the clock on the wall; each call is answered after 100 ms and ends with a notification. Shards: the campaign Worker in one workerd; its service answers at once.`,
    tables: [
      {
        title: "In and out",
        columns: ["", "contacts a second"],
        rows: [
          row(
            "added",
            into.map(({ rate }) => rate),
          ),
          row(
            "results read",
            out.map(({ rate }) => rate),
          ),
        ],
      },
      {
        title: "A call of a list, µs",
        columns: ["", "µs"],
        rows: [
          row("its two signatures", step.signatures),
          ["its durable commits", spread(commits)],
          ["everything else", spread(own)],
          row("all of it, of a thousand", step.file),
          row(`all of it, of ${number(much.contacts)}`, step.long),
        ],
      },
      {
        title: "Through the emulator",
        columns: ["", "calls a second"],
        rows: [
          row(
            "a bare loop of `create`",
            dials.map(({ bare }) => bare),
          ),
          row(
            "a list",
            dials.map(({ list }) => list),
          ),
        ],
      },
      {
        title: "On Workers",
        columns: ["shards", "contacts added a second", "calls begun a second"],
        rows: shards.map(({ shards: count, added, called }) => [
          `${count}`,
          number(added),
          number(called),
        ]),
      },
    ],
    targets,
    plots: [],
    remarks: [],
    raw,
  };
};
