import { describe, expect, test } from "vitest";
import { loopback, perCall } from "./measure/calls.ts";
import { judge } from "./measure/cold-start.ts";
import { memory } from "./measure/memory.ts";
import { emulator, signatures } from "./measure/operations.ts";
import { benchOf, goalsOf, subjects } from "./stub-runtime.ts";

/** Rounds in which a call takes so many microseconds, by the wall and by the processor. */
const took = (wall: number, cpu = wall) => [{ wall, cpu, p99: wall }];
/** Rounds with so many calls a second. */
const rate = (calls: number) => took(1e6 / calls);

/** The peers: a slow and a fast one on `fetch`, and one on `node:http`. */
const peers = (measure: (factor: number) => unknown) => ({
  slower: measure(3),
  faster: measure(1),
  axios: measure(0.5),
});

describe("per call", () => {
  const fetch = "Node 24: outdial/fetch takes at most 1.5 x the floor";
  const ky = "Node 24: outdial takes at most 1.45 x the floor through `ky`";
  const both = { outdialFetch: took(15), outdial: took(29), floor: took(10), ky: took(20) };

  test.each([
    ["just within", both, { [fetch]: true, [ky]: true }],
    ["too slow on fetch", { ...both, outdialFetch: took(15.1) }, { [fetch]: false, [ky]: true }],
    ["too slow through ky", { ...both, outdial: took(29.1) }, { [fetch]: true, [ky]: false }],
    [
      "too slow by the processor alone",
      { ...both, outdial: took(29, 90) },
      { [fetch]: true, [ky]: true },
    ],
  ])("against the floor on the same road, %s", async (_, figures, expected) => {
    expect(goalsOf(await perCall(benchOf(figures)))).toEqual(expected);
  });

  test("a goal against who could not be measured is missed, not met", async () => {
    for (const broken of ["outdialFetch", "floor"]) {
      expect(goalsOf(await perCall(benchOf({ ...both, [broken]: [] })))).toMatchObject({
        [fetch]: false,
      });
    }
  });

  test("the standing is beside the fastest peer on fetch, as no HTTP is left in the others", async () => {
    const { standings } = await perCall(
      benchOf({ ...both, ...peers((times) => took(30 * times)) }),
    );
    expect(standings).toMatchObject([
      { entry: "outdial/fetch", other: "faster", ahead: 2 },
      { entry: "outdial", other: "faster", ahead: 30 / 29 },
    ]);
  });
});

describe("loopback", () => {
  const goal = (inFlight: number, entry: string, least: number, floor: string) =>
    `${inFlight} in flight: ${entry} places at least ${least} of the calls a second of ${floor}`;
  const fetch = goal(50, "outdial/fetch", 0.93, "the floor");
  const ky = goal(50, "outdial", 0.95, "the floor through `ky`");
  const peer = (entry: string, least: number) =>
    `50 in flight: ${entry} places at least ${least} x the calls a second of the best peer on \`fetch\``;
  const floors = { floor: rate(1_000), ky: rate(800) };
  const goals = async (onFetch: number, throughKy: number) => {
    const figures = { ...floors, outdialFetch: rate(onFetch), outdial: rate(throughKy) };
    const others = peers((times) => rate(600 / times));
    return loopback(benchOf({ ...figures, ...others }, { smoke: false }));
  };

  test.each([
    ["enough", 931, 761, { [fetch]: true, [ky]: true }],
    ["too few", 929, 759, { [fetch]: false, [ky]: false }],
    [
      "against the best peer on fetch",
      751,
      659,
      { [peer("outdial/fetch", 1.25)]: true, [peer("outdial", 1.1)]: false },
    ],
  ])("calls a second, %s", async (_, onFetch, throughKy, expected) => {
    const { targets, standings } = await goals(onFetch, throughKy);
    expect(goalsOf({ targets })).toMatchObject(expected);
    expect(targets).toHaveLength(3 * 2 + 2);
    // Those on `node:http` count where it is asked who leads.
    expect(standings).toHaveLength(3 * 2);
    expect(new Set(standings?.map(({ other }) => other))).toEqual(new Set(["axios"]));
  });
});

describe("cold start", () => {
  const times: Readonly<Record<string, number>> = {
    ...{ outdialFetch: 115, floor: 100, outdial: 143, ky: 120 },
    ...{ retell: 130, slower: 300, faster: 144 },
  };
  const judged = (changed: Readonly<Record<string, number>>) => {
    const all = { ...times, ...changed };
    const measured = subjects.filter(({ name }) => name in all);
    return judge({ name: "node", label: "Node 24" }, measured, (name) => [all[name] ?? Number.NaN]);
  };
  const fetch = "Node 24: outdial/fetch takes at most 1.15 x the floor";
  const first = "Node 24: outdial/fetch is ahead of every peer that runs there";
  const others = "Node 24: outdial is ahead of every other peer that runs there";
  const retell = "Node 24: outdial takes at most 1.1 x retell";

  test.each([
    ["all met", {}, { [fetch]: true, [first]: true, [others]: true, [retell]: true }],
    ["too slow", { outdialFetch: 116 }, { [fetch]: false, [first]: true }],
    ["behind a peer", { outdialFetch: 131 }, { [first]: false, [others]: true }],
    ["through ky, behind another peer", { outdial: 145 }, { [others]: false, [retell]: false }],
  ])("%s", (_, changed, expected) => {
    expect(goalsOf(judged(changed))).toMatchObject(expected);
  });

  test("the standing is beside the fastest peer of all", () => {
    expect(judged({}).standings).toMatchObject([
      { entry: "outdial/fetch", other: "retell", ahead: 130 / 115 },
      { entry: "outdial", other: "retell", ahead: 130 / 143 },
    ]);
  });
});

describe("memory", () => {
  const growth = (entry: string) =>
    `Node 24: a call through ${entry} leaves nothing on the heap (less than 1 byte)`;
  const warnings = (entry: string) => `Node 24: no warning of listeners from ${entry}`;
  const heaps = (last: number, ...warnings: string[]) => ({
    marks: [1_000_000, 1_000_000, last].map((heap) => ({ calls: 0, heap })),
    warnings,
  });
  const good = heaps(1_000_000);
  const floor = heaps(9_000_000);

  test.each([
    ["no growth", good, true, true],
    ["a byte a call", heaps(1_100_000), false, true],
    ["a warning", heaps(1_000_000, "11 listeners"), true, false],
    ["no figure", { marks: [], warnings: [] }, false, true],
  ])("%s", async (_, figures, grows, warns) => {
    for (const [entry, all] of [
      ["outdial", { outdial: figures, outdialFetch: good, floor }],
      ["outdial/fetch", { outdial: good, outdialFetch: figures, floor }],
    ] as const) {
      const goals = goalsOf(await memory(benchOf(all)));
      expect(Object.keys(goals)).toHaveLength(4);
      expect(goals).toMatchObject({ [growth(entry)]: grows, [warnings(entry)]: warns });
    }
  });
});

describe("the emulator", () => {
  test.each([
    [5_001, true],
    [4_999, false],
  ])("%d calls a second: met is %s", async (calls, met) => {
    expect(goalsOf(await emulator(benchOf({ lifecycle: rate(calls) })))).toEqual({
      "Node 24, one at a time: at least 5 000 calls a second": met,
    });
  });
});

describe("signatures", () => {
  const goal = (what: string, least: number) =>
    `Node 24: ${what} is at least ${least} x as fast as when its key is imported each time`;
  const sign = goal("`signUrl`", 1.7);
  const url = goal("`callbackHandler`, signed URL", 1.4);
  const webhook = goal("`callbackHandler`, Standard Webhooks", 1.4);
  const slow = {
    ...{ signNewKeys: rate(100), receiveUrlNewKeys: rate(100) },
    ...{ receiveWebhookNewKeys: rate(100) },
  };

  test.each([
    ["just enough", [171, 141, 141], true],
    ["too few", [169, 139, 139], false],
  ])(
    "beside what imports its key each time, %s",
    async (_, [one = 0, other = 0, last = 0], met) => {
      const fast = {
        ...{ sign: rate(one), receiveUrl: rate(other), receiveWebhook: rate(last) },
      };
      expect(goalsOf(await signatures(benchOf({ ...slow, ...fast })))).toEqual({
        [sign]: met,
        [url]: met,
        [webhook]: met,
      });
    },
  );
});
