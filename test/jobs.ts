import type { Command } from "./jobs/execute.ts";

/** What a job can't do without, beside Node 24 and what the unit tests import; `npm test` sees to it. */
export type Need =
  /** All of `test/package.json`: every runtime, and the tools of the tests. */
  | "runtimes"
  /** The other clients that the bench measures: `test/bench/package.json`. */
  | "peers"
  | Tool;

/** A program of the system. */
type Tool = "chromium" | "sox" | "openssl" | "ip";

export interface Job {
  readonly name: string;
  /** `{peer}` becomes the URL of the server that misbehaves. */
  readonly command: Command;
  readonly cwd?: string;
  readonly needs: readonly Need[];
  /** What it does less without, and says so. */
  readonly wants?: readonly Tool[];
  /** What the end of its command means: see `jobs/verdict.ts`. */
  readonly judge: "exit" | "report" | "vitest";
}

const bin = "test/node_modules/.bin";
const node = (version: "" | "22" | "26" = "") => `test/node_modules/node${version}/bin/node`;
const denoRun = [
  `${bin}/deno`,
  "run",
  "--no-prompt",
  "--allow-net=127.0.0.1,localhost",
  "--config=test/runtimes/deno.json",
];
const vitest = [node(), "node_modules/vitest/vitest.mjs", "run", "--config=test/vitest.config.ts"];

const exits = (name: string, needs: readonly Need[], ...command: Command): Job => ({
  name,
  command,
  needs,
  judge: "exit",
});

const conforms = (runtime: string, needs: readonly Need[], ...command: Command): Job => ({
  name: `conformance ${runtime}`,
  command,
  needs,
  judge: "report",
});

const specifies = (folder: string, ...needs: readonly Need[]): Job => ({
  name: folder,
  command: [
    ...vitest,
    "--reporter=default",
    "--reporter=json",
    `--outputFile.json=test/artefacts/${folder}-report.json`,
    `test/${folder}/`,
  ],
  needs,
  judge: "vitest",
});

/** As `specifies`, in one process: its files share what is dear to make. */
const shares = (folder: string, ...needs: readonly Need[]): Job => {
  const job = specifies(folder, ...needs);
  return { ...job, command: [...job.command, "--no-isolate"] };
};

const types = (of: string, project: string): Job =>
  exits(`types${of}`, ["runtimes"], node(), "node_modules/typescript/bin/tsc", "-p", project);

/** Alone, before the rest: it has lanes of its own, and what it tells apart are milliseconds. */
export const first: readonly Job[] = [
  {
    ...exits(
      "faults",
      ["runtimes", "chromium", "openssl"],
      ...[node(), "test/faults/run.ts", "--check"],
    ),
    wants: ["ip"],
  },
];

/** Each keeps a core busy: a lane for each core, the longest first. */
export const busy: readonly Job[] = [
  specifies("dashboard", "runtimes", "chromium"),
  specifies("cli", "runtimes"),
  shares("package", "runtimes"),
  specifies("examples", "runtimes"),
  exits("soak", [], node(), "test/soak/run.ts", "--seconds", "40"),
  specifies("unit"),
  exits("fuzz", ["runtimes"], node(), "test/fuzz/run.ts", "--seed", "1", "--runs", "1200"),
  exits("bench", ["runtimes", "peers"], node(), "test/bench/run.ts", "--smoke"),
  specifies("docs", "runtimes"),
  exits("lifetime", ["runtimes"], node(), "test/runtimes/lifetime.ts", "{peer}"),
  types("", "test"),
  types(" of src", "."),
  types(" of the command", "src/cli"),
  types(" of the bench", "test/bench"),
  types(" of the bridge", "test/bridge"),
  types(" of the campaign", "test/campaign"),
  exits("lint", [], "node_modules/.bin/biome", "check", "."),
  exits("unused", ["runtimes"], node(), "node_modules/knip/bin/knip.js"),
  {
    ...exits("size", ["runtimes"], "node_modules/node/bin/node", "node_modules/size-limit/bin.js"),
    cwd: "test",
  },
  exits("survivors", [], node(), "test/mutation/check.ts"),
  specifies("recording", "sox"),
];

/** Each waits for much of its time: for a call, a clock, a network. In two lanes beside those. */
export const waiting: readonly Job[] = [
  specifies("agents", "runtimes"),
  specifies("bridge", "runtimes", "chromium"),
  specifies("campaign", "runtimes", "chromium"),
  specifies("chaos"),
  conforms("chromium", ["runtimes", "chromium"], node(), "test/runtimes/chromium.ts", "{peer}"),
  conforms("workerd", ["runtimes"], node(), "test/runtimes/workerd.ts", "{peer}"),
  conforms("edge", ["runtimes"], node(), "test/runtimes/edge.ts", "{peer}"),
  conforms("happy-dom", [], ...vitest, "test/runtimes/happy-dom.test.ts"),
  conforms("node22", ["runtimes"], node("22"), "test/runtimes/node.ts", "{peer}", "node22"),
  conforms("node24", [], node(), "test/runtimes/node.ts", "{peer}", "node24"),
  conforms("node26", ["runtimes"], node("26"), "test/runtimes/node.ts", "{peer}", "node26"),
  conforms("deno", ["runtimes"], ...denoRun, "test/runtimes/deno.ts", "{peer}"),
  conforms("bun", ["runtimes"], `${bin}/bun`, "test/runtimes/bun.ts", "{peer}"),
];

/** The jobs whose name contains one of some words; without a word, all. */
export const isWanted =
  (words: readonly string[]) =>
  ({ name }: Job): boolean =>
    words.length === 0 || words.some((word) => name.includes(word));
