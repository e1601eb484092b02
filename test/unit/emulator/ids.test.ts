import { describe, expect, it } from "vitest";
import { randomSource, ulid } from "../../../src/server/ids.ts";

describe("ids", () => {
  it("sort by the time they were made", () => {
    const random = randomSource();
    const times = [0, 1, 31, 32, 1e9, Date.now(), 2 ** 47];
    const ids = times.map((time) => ulid(time, random));
    expect([...ids].sort()).toEqual(ids);
    for (const id of ids) expect(id).toMatch(/^[0-9A-HJKMNP-TV-Z]{26}$/);
  });

  it("differ, and are the same for the same seed only", () => {
    const of = (seed?: number) => {
      const random = randomSource(seed);
      return Array.from({ length: 10_000 }, () => ulid(0, random));
    };
    expect(new Set(of()).size).toBe(10_000);
    expect(of(1)).toEqual(of(1));
    expect(of(1)[0]).not.toBe(of(2)[0]);
    expect(of(1)[0]).not.toBe(of(1 + 2 ** 32)[0]);
  });

  it("are spread evenly", () => {
    const random = randomSource(3);
    const numbers = Array.from({ length: 100_000 }, random);
    const mean = numbers.reduce((sum, each) => sum + each) / numbers.length;
    expect(mean).toBeGreaterThan(0.49);
    expect(mean).toBeLessThan(0.51);
    expect(Math.min(...numbers)).toBeGreaterThanOrEqual(0);
    expect(Math.max(...numbers)).toBeLessThan(1);
  });
});
