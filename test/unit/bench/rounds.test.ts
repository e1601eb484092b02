import { expect, test } from "vitest";
import { interleave, reasonOf } from "../../bench/rounds.ts";
import { benchOf } from "./bench.ts";

const ask = { calls: 1, inFlight: 1, warmUp: 0 };

const entriesOf = (told: Readonly<Record<string, unknown>>) => {
  const { files } = benchOf(told);
  return Object.keys(told).map((name) => ({
    name,
    command: [process.execPath, files.loop ?? "", files[name] ?? ""],
  }));
};

test("everyone has a turn in each round; what the warm-up tells is not counted", async () => {
  const { told, failed } = await interleave(
    entriesOf({
      one: [{ wall: 99 }, { wall: 1 }, { wall: 2 }],
      other: [{ wall: 98 }, { wall: 3 }],
    }),
    2,
    ask,
    ask,
  );
  expect(Object.fromEntries(told)).toEqual({
    one: [{ wall: 1 }, { wall: 2 }],
    other: [{ wall: 3 }, { wall: 3 }],
  });
  expect(failed.size).toBe(0);
});

test("who breaks is out, with what it said, and the rest go on", async () => {
  const { told, failed } = await interleave(
    entriesOf({ good: [{ wall: 1 }], broken: [], later: [{ wall: 2 }, { wall: 2 }, null] }),
    2,
    ask,
    ask,
  );
  expect([...told.keys()]).toEqual(["good"]);
  expect(told.get("good")).toHaveLength(2);
  expect([...failed.keys()]).toEqual(["broken", "later"]);
  expect(failed.get("later")).toContain("It broke");
});

test("a reason is one line, without colours and paths", () => {
  const said = "at x\n\u001b[31mError: no (file:///somewhere/a.ts:1:2)\nstack";
  expect(reasonOf(new Error(said))).toBe("Error: no");
});
