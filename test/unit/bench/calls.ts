import { createInterface } from "node:readline";

// Stands in for `work/calls.ts`: prints the figures that it is given, one round after the other, and fails where there
// is none; as a heap, it prints what it is given, and as a process's memory 0.
const [, , what, given = "0"] = process.argv;

const rounds = async (): Promise<void> => {
  const figures: readonly unknown[] = JSON.parse(given);
  let round = 0;
  console.log("ready");
  for await (const _ of createInterface({ input: process.stdin })) {
    const figure = figures[Math.min(round++, figures.length - 1)];
    if (!figure) throw new Error("It broke");
    console.log(JSON.stringify(figure));
  }
};

if (what === "rounds") await rounds();
else console.log(given);
