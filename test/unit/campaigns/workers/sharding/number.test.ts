import { expect, it } from "vitest";
import { shardOf } from "../../../../../src/campaigns/workers/sharding/number.ts";

it("a telephone has the same shard for ever: another one would not know its claims", () => {
  const numbers = ["+12025550100", "+12025550101", "+4930123456", "+447700900123"];
  expect(numbers.map((number) => shardOf(number, 4))).toEqual([3, 0, 1, 1]);
  expect(numbers.map((number) => shardOf(number, 256))).toEqual([131, 240, 149, 205]);
  expect(numbers.map((number) => shardOf(number, 1))).toEqual([0, 0, 0, 0]);
});

it("numbers that follow one another are spread evenly", () => {
  const counts = Array.from({ length: 8 }, () => 0);
  for (let last = 0; last < 80_000; last++) {
    const shard = shardOf(`+1202${5_550_000 + last}`, 8);
    counts[shard] = (counts[shard] ?? 0) + 1;
  }
  for (const count of counts) expect(Math.abs(count - 10_000)).toBeLessThan(500);
});
