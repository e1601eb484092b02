// A process that places calls with one client, or runs one operation: in rounds, for the heap, or only as an import.
import { createRequire } from "node:module";
import process from "node:process";
import { createInterface } from "node:readline";
import type { AxiosResponse, AxiosStatic } from "axios";
import { answerTo, type Connect, type Place } from "../clients.ts";

/** One round, as the launcher asks for it. */
export interface Ask {
  readonly calls: number;
  readonly inFlight: number;
  /** Calls before the clock starts: connections are opened, code is compiled. */
  readonly warmUp: number;
}

/** What a round cost: times in microseconds. */
export interface Round {
  /** A call, by the clock on the wall. */
  readonly wall: number;
  /** A call, by the processor, all threads of the process. */
  readonly cpu: number;
  /** A call, in bytes on the heap and beside it; absent where the runtime can't count. */
  readonly bytes?: number;
  /** 99 of 100 calls took no longer, from start to end. */
  readonly p99: number;
}

/** The heap at its first mark and at those that follow, each after a full collection, in bytes. */
export interface Heap {
  readonly marks: readonly { readonly calls: number; readonly heap: number }[];
  /** The warnings of the runtime. */
  readonly warnings: readonly string[];
}

/** A server that nothing reaches: a stub answers. */
const nowhere = "http://127.0.0.1:9";

/** The answer in the place of the network, with the headers that any server sends. */
const stubFetch = (): void => {
  globalThis.fetch = async (input) => {
    const { status, body } = answerTo(input instanceof Request ? input.url : String(input));
    return new Response(body, {
      status,
      headers: { "content-type": "application/json", "content-length": `${body.length}` },
    });
  };
};

/** Answers in the place of axios' adapter, so less is left than behind a stubbed `fetch`: a lower bound. */
const stubAxios = (): void => {
  // The copy of axios that the peers `require`: its defaults are theirs.
  const axios: AxiosStatic = createRequire(import.meta.url)("axios");
  axios.defaults.adapter = async (config): Promise<AxiosResponse> => {
    const { status, body: data } = answerTo(config.url ?? "");
    const headers = { "content-type": "application/json" };
    return { data, status, statusText: "", headers, config };
  };
};

const connectOf = async (module: string): Promise<Connect> => (await import(module)).connect;

/** The milliseconds of each call. */
const timesOf = async (place: Place, calls: number, inFlight: number): Promise<number[]> => {
  const times: number[] = [];
  let left = calls;
  const lane = async () => {
    while (left-- > 0) {
      const began = performance.now();
      if (!(await place())) throw new Error("An answer without an id");
      times.push(performance.now() - began);
    }
  };
  await Promise.all(Array.from({ length: inFlight }, lane));
  return times;
};

const bytesInUse = (): number => {
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
};

const roundOf = async (place: Place, { calls, inFlight, warmUp }: Ask): Promise<Round> => {
  await timesOf(place, warmUp, inFlight);
  const before = bytesInUse();
  const cpu = process.cpuUsage();
  const began = performance.now();
  const times = await timesOf(place, calls, inFlight);
  const wall = performance.now() - began;
  const { user, system } = process.cpuUsage(cpu);
  const bytes = bytesInUse() - before;
  times.sort((a, b) => a - b);
  return {
    wall: (wall * 1000) / calls,
    cpu: (user + system) / calls,
    bytes: bytes / calls,
    p99: (times[Math.floor(times.length * 0.99)] ?? 0) * 1000,
  };
};

/** A round for each line of stdin. The target is a server, or what stands in for it: `stub-fetch` or `stub-axios`. */
const rounds = async (module: string, target: string): Promise<void> => {
  const isStubbed = target.startsWith("stub");
  if (isStubbed) stubFetch();
  if (target === "stub-axios") stubAxios();
  const connect = await connectOf(module);
  const place = connect(isStubbed ? nowhere : target);
  console.log("ready");
  for await (const line of createInterface({ input: process.stdin })) {
    console.log(JSON.stringify(await roundOf(place, JSON.parse(line))));
  }
};

/** Node and Deno have `gc` with an option; Bun has its own. */
const { gc, Bun } = globalThis as { gc?: () => void; Bun?: { gc: (now: boolean) => void } };

const settledHeap = async (): Promise<number> => {
  for (let times = 0; times < 4; times++) {
    await new Promise((resolve) => setTimeout(resolve, 20));
    if (Bun) Bun.gc(true);
    else gc?.();
  }
  return process.memoryUsage().heapUsed;
};

/** The heap while many calls are placed, with a signal that all of them share or without one. */
const heap = async (module: string, signal: string, lanes: string, total: string) => {
  if (!gc && !Bun) throw new Error("No way to collect the garbage");
  const warnings: string[] = [];
  process.on("warning", ({ name, message }) => warnings.push(`${name}: ${message}`));
  stubFetch();
  const connect = await connectOf(module);
  const place = connect(nowhere, signal === "signal" ? new AbortController().signal : undefined);
  const marks: { calls: number; heap: number }[] = [];
  let done = 0;
  for (const part of [0.01, 0.2, 0.4, 0.6, 0.8, 1]) {
    const calls = part * Number(total);
    let left = calls - done;
    const lane = async () => {
      while (left-- > 0) await place();
    };
    await Promise.all(Array.from({ length: Number(lanes) }, lane));
    done = calls;
    marks.push({ calls, heap: await settledHeap() });
  }
  console.log(JSON.stringify({ marks, warnings } satisfies Heap));
};

/** The resident memory of a process that has imported a client and made one, in bytes. */
const resident = async (module: string): Promise<void> => {
  if (module) (await connectOf(module))(nowhere);
  console.log(process.memoryUsage().rss);
};

const [, , what, module = "", option = "", lanes = "1", total = "100000"] = process.argv;
if (what === "rounds") await rounds(module, option);
if (what === "heap") await heap(module, option, lanes, total);
if (what === "resident") await resident(module);
