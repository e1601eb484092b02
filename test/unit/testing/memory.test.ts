import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { scriptedAgent } from "../../../src/testing/scripted-agent.ts";
import type { SimulatedCall } from "../../../src/testing/simulate-call.ts";
import { talkWith } from "./agents.ts";

/** Bytes that are reachable: objects, and the memory of audio, which lies beside the heap. */
const kept = async (): Promise<number> => {
  setFlagsFromString("--expose-gc");
  const collect: () => void = runInNewContext("gc");
  // What was freed beside the heap is counted in a later turn of the event loop.
  for (let round = 0; round < 3; round++) {
    collect();
    await new Promise((resolve) => setImmediate(resolve));
  }
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
};

test("a simulated call of 60 s keeps less than 60 MB", async () => {
  const simulate = (): Promise<SimulatedCall> =>
    talkWith(scriptedAgent([{ ms: 55_000 }]), {
      caller: [{ type: "until", ms: 60_000 }, { type: "hangup" }],
    });
  await simulate(); // What is compiled and cached once is no part of a call.
  const before = await kept();
  const call = await simulate();
  const bytes = (await kept()) - before;
  expect(call.end.ms).toBe(60_000);
  expect(bytes).toBeLessThan(60_000_000);
});
