import { expect, it } from "vitest";
import { servicesChaos } from "./services.ts";

it.each(["file", "objects"] as const)(
  "over two services, one of which is down for a while, on %s: each attempt at one service, none twice, none forged",
  async (home) => {
    const { faults, summary } = await servicesChaos({
      ...{ home, contacts: 60, kills: 3, seed: 20_261_128 },
    });
    expect(faults).toEqual([]);
    expect(summary.killed).toBeGreaterThan(0);
    expect(summary.down).toBeGreaterThan(0);
    expect(summary.main).toBeGreaterThan(0);
    expect(summary.spare).toBeGreaterThan(0);
    expect(summary.forged).toBeGreaterThan(50);
  },
);
