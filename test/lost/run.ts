import { spawn } from "node:child_process";
import { once } from "node:events";
import { parseArgs } from "node:util";
import type { Came, Given } from "./caller.ts";
import { lostList } from "./list.ts";
import { type Planned, planOf } from "./plan.ts";
import { type Seen, startService, startVanishing } from "./service.ts";

/**
 * Calls whose answers are lost, `npm run lost`: cut at each byte, 503 after the call was placed, silence, at a service that
 * keeps keys, on real sockets, in three runtimes at once. Each call is counted there. `--seed` repeats a run, `--calls` are
 * those of each runtime. `-- list` dials a list of so many contacts on Node, by processes that are killed, with the option and
 * without it.
 */
const { values, positionals } = parseArgs({
  options: {
    seed: { type: "string", default: `${Date.now() % 2 ** 31}` },
    calls: { type: "string", default: "1000" },
    kills: { type: "string", default: "20" },
  },
  allowPositionals: true,
});
process.chdir(new URL("../..", import.meta.url).pathname);
const seed = Number(values.seed);
const count = Number(values.calls);
if (positionals.includes("list")) {
  let isWhole = true;
  for (const idempotent of [true, false]) {
    const { faults, summary } = await lostList({
      ...{ contacts: count, kills: Number(values.kills), seed, idempotent },
    });
    console.log(summary);
    for (const fault of faults) console.log(`FAILED ${fault}`);
    isWhole &&= faults.length === 0;
  }
  process.exit(isWhole ? 0 : 1);
}
const main = "test/lost/caller.ts";
const deno = ["run", "--no-prompt", "--allow-net=127.0.0.1", "--config=test/runtimes/deno.json"];

const commands: Readonly<Record<string, readonly string[]>> = {
  node: [process.execPath, main],
  deno: ["test/node_modules/.bin/deno", ...deno, main],
  bun: ["test/node_modules/.bin/bun", main],
};

const service = await startService();

const callIn = async (runtime: string): Promise<readonly Came[]> => {
  const vanishing = await startVanishing();
  const given: Given = { runtime, seed, count, baseUrl: service.baseUrl, vanishing };
  const [command = "", ...args] = commands[runtime] ?? [];
  const child = spawn(command, [...args, JSON.stringify(given)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let output = "";
  child.stdout.on("data", (part) => (output += part));
  const [code] = await once(child, "close");
  const found = /^LOST (.*)$/m.exec(output)?.[1];
  if (!found || code !== 0) throw new Error(`${runtime}: exit ${code}\n${output.slice(0, 4_000)}`);
  return JSON.parse(found);
};

/** What is wrong with one call, between its caller and the service. */
const wrongWith = (
  { key, ends, fates }: Planned,
  { id, placed }: Came,
  { posts, calls }: Seen,
): readonly string[] => {
  const [first] = fates;
  const mayPlace = !(first?.is === "unplaced" || (first?.is === "status" && !first.places));
  return [
    key && calls.length > 1 && "placed twice",
    !key && posts.length !== 1 && `${posts.length} POSTs without a key`,
    !key && calls.length !== Number(mayPlace) && "another number of calls than POSTs",
    new Set(posts).size > 1 && "the POSTs are not the same",
    id !== undefined && calls[0] !== id && "another id than the call's",
    placed === "no" && "said that nothing was placed",
    key &&
      ends === "maybe" &&
      fates[0]?.is === "cut" &&
      placed !== "maybe" &&
      "settled by a refusal",
    key && posts.length > fates.length + 1 && `${posts.length} POSTs`,
  ].filter((each) => typeof each === "string");
};

const runtimes = Object.keys(commands);
console.log(`seed ${seed}, ${count} calls in each runtime`);
const all = await Promise.all(runtimes.map(callIn));
let isFine = true;
const report = (text: string) => {
  isFine = false;
  console.log(`FAILED ${text}`);
};
for (const [at, runtime] of runtimes.entries()) {
  const came = new Map(all[at]?.map((each) => [each.name, each]));
  const sums = { calls: 0, withKey: 0, answered: 0, settled: 0, maybe: 0, posts: 0 };
  for (const planned of planOf(runtime, seed, count)) {
    const { name, key, ends } = planned;
    const one = came.get(name);
    if (!one) {
      report(`${runtime}: ${name} is missing`);
      continue;
    }
    const seen = service.seen(name);
    // Those of all runtimes came under one name.
    const isShared = typeof key === "string";
    const wrong = wrongWith(
      planned,
      one,
      isShared ? { ...seen, posts: seen.posts.slice(0, 1) } : seen,
    );
    for (const each of wrong)
      report(`${runtime}: ${name}: ${each} ${JSON.stringify([planned.fates, one])}`);
    sums.calls++;
    sums.posts += seen.posts.length;
    if (!key) continue;
    sums.withKey++;
    if (ends === "maybe") sums.maybe++;
    else {
      sums.answered++;
      if (one.id !== undefined) sums.settled++;
    }
  }
  const refused = came.get(`${runtime}-refused`);
  if (refused?.placed !== "maybe") report(`${runtime}: a refused connection took back a maybe`);
  const share = (100 * sums.settled) / sums.answered;
  if (!(share >= 99)) report(`${runtime}: ${share.toFixed(2)} % settled`);
  console.log(
    `${runtime}: ${sums.calls} calls, ${sums.posts} POSTs, ${sums.withKey} with a key: ${sums.settled} of ${sums.answered} settled (${share.toFixed(2)} %), ${sums.maybe} refused at a repeat`,
  );
}
for (const { name, key } of planOf("", seed, 0)) {
  const ids = new Set(all.map((came) => came.find((each) => each.name === name)?.id));
  if (ids.size !== 1 || ids.has(undefined))
    report(`${key}: one key of three processes, ${ids.size} ids`);
}
service.close();
process.exit(isFine ? 0 : 1);
