import process from "node:process";
import { createInterface } from "node:readline";
import { answer, stubbed } from "../answer.ts";
import type { Connect, Place } from "../clients/client.ts";

/** One round, as the launcher asks for it. */
export interface Ask {
  readonly calls: number;
  readonly inFlight: number;
  /** Calls before the clock starts: connections are opened, code is compiled. */
  readonly warmUp: number;
}

/** What a round cost: times in microseconds. */
export interface Told {
  /** A call, by the clock on the wall. */
  readonly wall: number;
  /** A call, by the processor, all threads of the process. */
  readonly cpu: number;
  /** A call, in bytes on the heap and beside it; absent where the runtime doesn't tell. */
  readonly bytes?: number;
  /** 99 of 100 calls took no longer, from its start to its end. */
  readonly p99: number;
}

const [, , module = "", target = "", axios] = process.argv;
const isStubbed = target === "stub";

if (isStubbed) globalThis.fetch = stubbed;
if (isStubbed && axios) (await import(axios)).stub(answer);
const { connect }: { connect: Connect } = await import(module);
const place: Place = connect(isStubbed ? "http://127.0.0.1:9" : target);

const run = async (calls: number, inFlight: number): Promise<number[]> => {
  const took: number[] = [];
  let left = calls;
  const lane = async () => {
    while (left-- > 0) {
      const start = performance.now();
      if (!(await place())) throw new Error("An answer without an id");
      took.push(performance.now() - start);
    }
  };
  await Promise.all(Array.from({ length: inFlight }, lane));
  return took;
};

const memory = (): number => {
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
};

const round = async ({ calls, inFlight, warmUp }: Ask): Promise<Told> => {
  await run(warmUp, inFlight);
  const before = memory();
  const cpu = process.cpuUsage();
  const start = performance.now();
  const took = await run(calls, inFlight);
  const wall = performance.now() - start;
  const { user, system } = process.cpuUsage(cpu);
  const bytes = memory() - before;
  took.sort((a, b) => a - b);
  return {
    wall: (wall * 1000) / calls,
    cpu: (user + system) / calls,
    bytes: bytes / calls,
    p99: (took[Math.floor(took.length * 0.99)] ?? 0) * 1000,
  };
};

console.log("ready");
for await (const line of createInterface({ input: process.stdin })) {
  console.log(JSON.stringify(await round(JSON.parse(line))));
}
