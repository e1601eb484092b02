import { mkdirSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { busy, first, isWanted, type Job, waiting } from "../jobs.ts";
import { execute, startPeer } from "./execute.ts";
import { verdictOf } from "./verdict.ts";

/** Runs the jobs that the words of the command line pick, and prints what each came to. */
const missing = (process.env.MISSING ?? "").split(" ");
const peer = await startPeer(process.execPath);
const total = { passed: 0, failed: 0, skipped: 0 };

const run = async (job: Job): Promise<void> => {
  const { name, command, cwd = ".", needs } = job;
  const lacking = needs.filter((need) => missing.includes(need));
  if (lacking.length > 0) {
    total.skipped++;
    console.log(`not run: ${name}: no ${lacking.join(", ")} on this machine`);
    return;
  }
  const start = Date.now();
  const words = command.map((word) => word.replace("{peer}", peer.url));
  const { output, code } = await execute(words, cwd, { PEER: peer.url });
  writeFileSync(`test/artefacts/${name.replaceAll(" ", "-")}.log`, output);
  const { passed, skipped, failures } = verdictOf(job, output, code);
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

mkdirSync("test/artefacts", { recursive: true });
const lane = async (queue: Job[]) => {
  for (let job = queue.shift(); job; job = queue.shift()) await run(job);
};
const wanted = isWanted(process.argv.slice(2));
const lanes = (jobs: readonly Job[], count: number): readonly Promise<void>[] => {
  const queue = jobs.filter(wanted);
  return Array.from({ length: count }, () => lane(queue));
};
await lane(first.filter(wanted));
const cores = Math.min(2, availableParallelism());
await Promise.all([...lanes(busy, cores), ...lanes(waiting, 2)]);
peer.stop();
console.log(`${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`);
process.exit(total.failed > 0 ? 1 : 0);
