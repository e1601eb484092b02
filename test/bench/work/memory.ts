import process from "node:process";
import { stubbed } from "../answer.ts";
import type { Connect } from "../clients/client.ts";

/** The heap at its first mark and at those that follow, each after a full collection, in bytes. */
export interface Heap {
  readonly marks: readonly { readonly calls: number; readonly heap: number }[];
  /** What the runtime warned of. */
  readonly warnings: readonly string[];
}

const [, , module = "", signals = "", lanes = "1", total = "100000"] = process.argv;
const warnings: string[] = [];
process.on("warning", ({ name, message }) => warnings.push(`${name}: ${message}`));

globalThis.fetch = stubbed;
const { connect }: { connect: Connect } = await import(module);
const place = connect(
  "http://127.0.0.1:9",
  signals === "signal" ? new AbortController().signal : undefined,
);

/** Node and Deno show theirs when they are told to; Bun's is its own. */
const { gc, Bun } = globalThis as { gc?: () => void; Bun?: { gc: (now: boolean) => void } };
const collect = (): void => (Bun ? Bun.gc(true) : gc?.());
if (!gc && !Bun) throw new Error("No way to collect the garbage");

const settledHeap = async (): Promise<number> => {
  for (let times = 0; times < 4; times++) {
    await new Promise((resolve) => setTimeout(resolve, 20));
    collect();
  }
  return process.memoryUsage().heapUsed;
};

const run = async (calls: number): Promise<void> => {
  let left = calls;
  const lane = async () => {
    while (left-- > 0) await place();
  };
  await Promise.all(Array.from({ length: Number(lanes) }, lane));
};

const marks = [];
const steps = [0.01, 0.2, 0.4, 0.6, 0.8, 1].map((part) => part * Number(total));
let done = 0;
for (const calls of steps) {
  await run(calls - done);
  done = calls;
  marks.push({ calls, heap: await settledHeap() });
}
console.log(JSON.stringify({ marks, warnings } satisfies Heap));
