import { mkdirSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { cases } from "./conformance/index.ts";
import { type Command, execute, startPeer } from "./jobs/execute.ts";
import { byExit, byReport, byVitest, type Verdict } from "./jobs/verdict.ts";

interface Job {
  readonly name: string;
  readonly command: Command;
  readonly cwd?: string;
  /** What the end of the command means. */
  readonly judge: (output: string, code: number) => Verdict;
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

const exits = (name: string, ...command: Command): Job => ({ name, command, judge: byExit });

const conforms = (runtime: string, ...command: Command): Job => ({
  name: `conformance ${runtime}`,
  command,
  judge: byReport(cases.map(({ name }) => name)),
});

const specifies = (folder: string): Job => ({
  name: folder,
  command: [
    ...vitest,
    "--reporter=default",
    "--reporter=json",
    `--outputFile.json=test/artefacts/${folder}-report.json`,
    `test/${folder}/`,
  ],
  judge: byVitest(`test/artefacts/${folder}-report.json`),
});

const peer = await startPeer(node());

/** Each alone, before the rest: they tell milliseconds apart, and a busy machine would spoil that. */
const first: readonly Job[] = [
  exits("lifetime", node(), "test/runtimes/lifetime.ts", peer.url),
  specifies("unit"),
];

/** In two lanes, the longest first. */
const rest: readonly Job[] = [
  specifies("package"),
  specifies("examples"),
  specifies("bridge"),
  specifies("dashboard"),
  specifies("cli"),
  conforms("chromium", node(), "test/runtimes/chromium.ts", peer.url),
  conforms("workerd", node(), "test/runtimes/workerd.ts", peer.url),
  conforms("edge", node(), "test/runtimes/edge.ts", peer.url),
  conforms("happy-dom", ...vitest, "test/runtimes/happy-dom.test.ts"),
  conforms("node22", node("22"), "test/runtimes/node.ts", peer.url, "node22"),
  conforms("node24", node(), "test/runtimes/node.ts", peer.url, "node24"),
  conforms("node26", node("26"), "test/runtimes/node.ts", peer.url, "node26"),
  conforms("deno", ...denoRun, "test/runtimes/deno.ts", peer.url),
  conforms("bun", `${bin}/bun`, "test/runtimes/bun.ts", peer.url),
  { ...exits("size", "node_modules/node/bin/node", "node_modules/size-limit/bin.js"), cwd: "test" },
  exits("types", node(), "node_modules/typescript/bin/tsc", "-p", "test"),
  exits("types of src", node(), "node_modules/typescript/bin/tsc", "-p", "."),
  exits("types of the command", node(), "node_modules/typescript/bin/tsc", "-p", "src/cli"),
  exits("types of the bench", node(), "node_modules/typescript/bin/tsc", "-p", "test/bench"),
  exits("types of the bridge", node(), "node_modules/typescript/bin/tsc", "-p", "test/bridge"),
  exits("bench", node(), "test/bench/run.ts", "--smoke"),
  exits("lint", "node_modules/.bin/biome", "check", "."),
  exits("unused", node(), "node_modules/knip/bin/knip.js"),
];

/** In a lane beside those: they take long, and wait for much of it. */
const beside: readonly Job[] = [
  exits("soak", node(), "test/soak/run.ts", "--seconds", "60"),
  exits("faults", node(), "test/faults/run.ts", "--check"),
];

const total = { passed: 0, failed: 0, skipped: 0 };

const run = async ({ name, command, cwd = ".", judge }: Job): Promise<void> => {
  const start = Date.now();
  const { output, code } = await execute(command, cwd, { PEER: peer.url });
  writeFileSync(`test/artefacts/${name.replaceAll(" ", "-")}.log`, output);
  const { passed, skipped, failures } = judge(output, code);
  total.passed += passed;
  total.failed += failures.length;
  total.skipped += skipped.length;
  const seconds = ((Date.now() - start) / 1000).toFixed(1);
  console.log(
    `${failures.length > 0 ? "FAILED" : "ok    "} ${name}: ${passed} passed, ${seconds} s`,
  );
  for (const { name: rule, reason } of skipped) console.log(`       not run: ${rule}: ${reason}`);
  for (const failure of failures) console.log(failure.replace(/^/gm, "       "));
};

const wanted = process.argv.slice(2);
const isWanted = ({ name }: Job) =>
  wanted.length === 0 || wanted.some((word) => name.includes(word));

mkdirSync("test/artefacts", { recursive: true });
const lane = async (queue: Job[]) => {
  for (let job = queue.shift(); job; job = queue.shift()) await run(job);
};
await lane(first.filter(isWanted));
const queue = rest.filter(isWanted);
const lanes = Array.from({ length: Math.min(2, availableParallelism()) }, () => lane(queue));
await Promise.all([...lanes, lane(beside.filter(isWanted))]);
peer.stop();
console.log(`${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`);
process.exit(total.failed > 0 ? 1 : 0);
