import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Bench } from "../bench.ts";
import { firstLine, start } from "../child.ts";
import { number, spread } from "../format.ts";
import { node } from "../runtimes.ts";
import type { Section, Target } from "../section.ts";
import { ratio, summary } from "../statistics.ts";
import type { BookTold } from "../work/list-book.ts";
import type { DialAsk, DialTold } from "../work/list-dial.ts";
import type { PaceTold } from "../work/list-pace.ts";
import type { StepTold } from "../work/list-step.ts";
import { dialFromShards } from "./list-shards.ts";

/** What a list is to reach. */
const goals = {
  /** Contacts a second, into a file. */
  added: 100_000,
  /** MB, with all of the list in and out. */
  resident: 200,
  /** Microseconds of a step for each call, beside its signatures and its commits. */
  step: 100,
  /** Part of the calls a second of a bare loop. */
  dialled: 0.7,
  /** Times the cost in a short list: the same, but for what is noise. */
  long: 1.2,
  /** Part of the pace, to either side. */
  pace: 0.02,
} as const;

/** What is run, and how much of it. */
const full = {
  ...{ contacts: 1_000_000, books: 3, steps: 12, calls: 800, dials: 6, dialled: 2_000 },
  ...{ seconds: 60, sharded: 5_000 },
};
const short: typeof full = {
  ...{ contacts: 5_000, books: 1, steps: 2, calls: 160, dials: 1, dialled: 100 },
  ...{ seconds: 2, sharded: 200 },
};

const rates = ["5", "50", "200"];

/** A list: in and out, a step, a dial through the emulator, its pace, and on Workers. */
export const lists = async ({ smoke, files, server }: Bench): Promise<Section> => {
  const much = smoke ? short : full;
  const raw: Record<string, unknown> = {};
  const run = async <Told>(name: string, ...args: readonly (string | number)[]): Promise<Told> => {
    const words = args.map(String);
    const { line } = await firstLine([...node.command, files[name] ?? "", ...words]);
    return JSON.parse(line);
  };

  const into: BookTold[] = [];
  const out: BookTold[] = [];
  for (let round = 0; round < much.books; round++) {
    const folder = mkdtempSync(join(tmpdir(), "bench-"));
    const file = join(folder, "people.outdial");
    into.push(await run<BookTold>("list-book", "in", file, much.contacts));
    out.push(await run<BookTold>("list-book", "out", file, much.contacts));
    rmSync(folder, { recursive: true });
  }
  const added = summary(into.map(({ rate }) => rate));
  const [most = 0, least = 0] = [into, out].map((books) =>
    Math.max(...books.map(({ resident }) => resident / 1e6)),
  );

  const step = await run<StepTold>("list-step", much.steps, much.calls, much.contacts);
  const own = summary(step.memory.map((all, round) => all - (step.signatures[round] ?? 0)));
  const commits = summary(step.file.map((all, round) => all - (step.memory[round] ?? 0)));
  const grown = ratio(step.long, step.file);

  const service = await start([...node.command, files["list-service"] ?? ""]);
  const { baseUrl, apiKey } = JSON.parse(service.said);
  const dialler = await start([...node.command, files["list-dial"] ?? "", baseUrl, apiKey]);
  const ask: DialAsk = { calls: much.dialled, inFlight: 50 };
  const dials: DialTold[] = [];
  await dialler.ask<DialTold>(ask); // not counted
  for (let round = 0; round < much.dials; round++) dials.push(await dialler.ask<DialTold>(ask));
  dialler.stop();
  service.stop();
  const dialled = ratio(
    dials.map(({ list }) => list),
    dials.map(({ bare }) => bare),
  );

  const paces = await run<readonly PaceTold[]>("list-pace", much.seconds, ...rates);
  const shards = await dialFromShards(server, much.sharded);
  Object.assign(raw, { into, out, step, dials, paces, shards });

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
    ...paces.map(({ rate, kept, most }) => ({
      goal: `${rate} calls a second are kept within 2 % over ${much.seconds} s, and never exceeded in any second`,
      measured: `${number(kept)} a second, ${most} at most`,
      met: Math.abs(kept / rate - 1) <= goals.pace && most <= rate,
    })),
  ];
  const row = (label: string, values: readonly number[]) => [label, spread(summary(values))];
  return {
    title: "Lists",
    how: `Node 24, \`node:sqlite\`. In and out: ${number(much.contacts)} contacts into a new file and out of it again, their numbers in no order, each way in a process of its own. A step: calls whose service answers at once, ${much.calls} a round, in batches of 16, from the choice of the contact until the answer is written down; what is durable is what a file costs more than memory. Dialled: ${number(much.dialled)} calls with 50 at once through the emulator in a process of its own (instant clock), each to its last notification; the bare loop counts its notifications and nothing else. Pace: three lists at once, by the clock on the wall. Shards: the campaign Worker in one workerd; its service answers at once.`,
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
