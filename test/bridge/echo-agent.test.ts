import type { Heard } from "outdial/flows";
import { expect, test } from "vitest";
import { echoAgent } from "../../examples/bridge/echo-agent.ts";

/** 100 ms of one value. */
const piece = (value: number) => new Int16Array(800).fill(value);

/** What the agent does about so many pieces of 100 ms, with the moment at which it does it. */
const doneAbout = async (values: readonly number[]): Promise<unknown[]> => {
  const done: unknown[] = [];
  let ms = 0;
  const agent = await echoAgent({
    call_id: "cs_1",
    sample_rate: 8000,
    context: {},
    signal: new AbortController().signal,
    say: async (samples, chunk_id) => {
      const bytes = new Uint8Array(samples as Uint8Array<ArrayBuffer>);
      const said = new Int16Array(bytes.buffer);
      const pieces = Array.from({ length: said.length / 800 }, (_, at) => said[at * 800]);
      done.push({ ms, say: pieces, chunk_id });
      return true;
    },
    interrupt: (chunk_id) => done.push({ ms, interrupt: chunk_id }),
    clear: () => done.push({ ms, clear: true }),
    hangUp: () => done.push({ ms, hangUp: true }),
  });
  for (const value of values) {
    const heard: Heard = { bytes: new Uint8Array(piece(value).buffer), time: ms };
    ms += 100;
    agent.hear(heard);
  }
  return done;
};

test("silence is not answered", async () => {
  expect(await doneAbout(Array(50).fill(10))).toEqual([]);
});

test("a phrase is said back once 200 ms of silence have ended it", async () => {
  expect(await doneAbout([0, 1000, 2000, 3000, 0, 0, 0, 0])).toEqual([
    { ms: 600, say: [1000, 2000, 3000], chunk_id: 1 },
  ]);
});

test("a breath within a phrase doesn't end it", async () => {
  expect(await doneAbout([1000, 0, 2000, 0, 0])).toEqual([
    { ms: 500, say: [1000, 2000], chunk_id: 1 },
  ]);
});

test("a phrase that doesn't end is said back after two seconds, and isn't a barge-in", async () => {
  const done = await doneAbout(Array(45).fill(1000));
  expect(done).toEqual([
    { ms: 2000, say: Array(20).fill(1000), chunk_id: 1 },
    { ms: 4000, say: Array(20).fill(1000), chunk_id: 2 },
  ]);
});

test("barge-in: who speaks while the agent does silences it at once", async () => {
  const spoken = [...Array(10).fill(1000), 0, 0]; // The echo of a second begins at 1.2 s.
  expect(await doneAbout([...spoken, 0, 0, 2000, 0, 0])).toEqual([
    { ms: 1200, say: Array(10).fill(1000), chunk_id: 1 },
    { ms: 1500, interrupt: 1 },
    { ms: 1700, say: [2000], chunk_id: 2 },
  ]);
});

test("who speaks after the agent has finished interrupts nothing", async () => {
  const spoken = [...Array(3).fill(1000), 0, 0]; // The echo of 300 ms begins at 0.5 s.
  expect(await doneAbout([...spoken, 0, 0, 0, 2000, 0, 0])).toEqual([
    { ms: 500, say: [1000, 1000, 1000], chunk_id: 1 },
    { ms: 1100, say: [2000], chunk_id: 2 },
  ]);
});
