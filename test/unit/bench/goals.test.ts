import { describe, expect, test } from "vitest";
import { emulator } from "../../bench/measure/emulator.ts";
import { loopback } from "../../bench/measure/loopback.ts";
import { memory } from "../../bench/measure/memory.ts";
import { perCall } from "../../bench/measure/per-call.ts";
import { benchOf, goalsOf } from "./bench.ts";

/** Rounds in which a call takes so many microseconds, by the wall and by the processor. */
const took = (wall: number, cpu = wall) => [{ wall, cpu, p99: wall }];
/** Rounds with so many calls a second. */
const rate = (calls: number) => took(1e6 / calls);

describe("per call", () => {
  const floor = "Node 24: at most 3.5 x the floor, by the wall and by the processor";
  const peer = (label: string) =>
    `Node 24: at most 0.65 of the fastest fetch-based peer (${label}), by the wall and by the processor`;
  const goals = async (told: Readonly<Record<string, unknown>>) =>
    goalsOf(await perCall(benchOf(told)));

  test.each([
    ["just within, by both", true, took(35)],
    ["too slow by the wall", false, took(36, 35)],
    ["too slow by the processor", false, took(35, 36)],
  ])("against the floor, %s: met is %s", async (_, met, outdial) => {
    expect(await goals({ outdial, floor: took(10) })).toEqual({ [floor]: met });
  });

  test.each([
    ["just within", true, took(65)],
    ["too slow", false, took(66)],
  ])("against the fastest peer that fetches, %s: met is %s", async (_, met, outdial) => {
    const told = {
      outdial,
      floor: took(60),
      slower: took(300),
      faster: took(100),
      stubbed: took(1),
    };
    expect(await goals(told)).toEqual({ [floor]: true, [peer("faster")]: met });
  });

  test("a goal against who could not be measured is missed, not met", async () => {
    expect(await goals({ outdial: took(1), floor: [] })).toEqual({ [floor]: false });
    expect(await goals({ outdial: [], floor: took(1) })).toEqual({ [floor]: false });
  });
});

describe("loopback", () => {
  const floor = (inFlight: number, of: number) =>
    `${inFlight} in flight: at least ${of} of the floor's calls a second`;
  const peer = "50 in flight: at least 1.3 x the calls a second of the best peer";

  test.each([
    ["just enough", 651, { [floor(50, 0.65)]: true, [floor(1, 0.85)]: false, [peer]: true }],
    ["too few", 649, { [floor(50, 0.65)]: false, [floor(1, 0.85)]: false, [peer]: false }],
    ["enough for one", 851, { [floor(50, 0.65)]: true, [floor(1, 0.85)]: true, [peer]: true }],
  ])("calls a second, %s", async (_, outdial, expected) => {
    const told = {
      outdial: rate(outdial),
      floor: rate(1_000),
      slower: rate(100),
      faster: rate(500),
    };
    const goals = goalsOf(await loopback(benchOf(told, { smoke: false })));
    expect(goals).toMatchObject(expected);
    expect(Object.keys(goals)).toHaveLength(4);
  });
});

describe("memory", () => {
  const growth = "Node 24: the heap doesn't grow: less than 1 byte a call";
  const warnings = "Node 24: no warning of listeners";
  const heaps = (last: number, ...warnings: string[]) => ({
    marks: [1_000_000, 1_000_000, last].map((heap) => ({ calls: 0, heap })),
    warnings,
  });

  test.each([
    ["no growth", heaps(1_000_000), { [growth]: true, [warnings]: true }],
    ["a byte a call", heaps(1_100_000), { [growth]: false, [warnings]: true }],
    ["a warning", heaps(1_000_000, "11 listeners"), { [growth]: true, [warnings]: false }],
    ["no figure", { marks: [], warnings: [] }, { [growth]: false, [warnings]: true }],
  ])("%s", async (_, outdial, expected) => {
    expect(goalsOf(await memory(benchOf({ outdial, floor: heaps(9_000_000) })))).toEqual(expected);
  });
});

describe("the emulator", () => {
  test.each([
    [5_001, true],
    [4_999, false],
  ])("%d calls a second: met is %s", async (calls, met) => {
    expect(goalsOf(await emulator(benchOf({ lifecycle: rate(calls) })))).toEqual({
      "Node 24, 1 at a time: 5 000 calls a second": met,
      "Node 24, 50 at a time: 5 000 calls a second": met,
    });
  });
});
