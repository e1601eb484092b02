import { createInterface } from "node:readline";

// Stands in for `work/loop.ts`: tells the figures that it is given, one after the other, as its rounds; breaks where there is none.
const [, , given = "[]"] = process.argv;
const rounds: readonly unknown[] = JSON.parse(given);
let round = 0;

console.log("ready");
for await (const _ of createInterface({ input: process.stdin })) {
  const told = rounds[Math.min(round++, rounds.length - 1)];
  if (!told) throw new Error("It broke");
  console.log(JSON.stringify(told));
}
