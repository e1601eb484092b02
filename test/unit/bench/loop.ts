import { createInterface } from "node:readline";

// Stands in for `work/loop.ts`: tells the figures that it is given, one after the other, as its rounds.
const [, , given = "[]"] = process.argv;
const rounds: readonly unknown[] = JSON.parse(given);
let round = 0;

console.log("ready");
for await (const _ of createInterface({ input: process.stdin })) {
  if (rounds.length === 0) throw new Error("It broke");
  console.log(JSON.stringify(rounds[Math.min(round++, rounds.length - 1)]));
}
