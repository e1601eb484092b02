import { expect, it } from "vitest";
import { chaos } from "./chaos.ts";
import { survey } from "./survey.ts";

it("nobody is called twice, whatever happens to the process, the network and the clock: two kills", async () => {
  const { faults, summary } = await chaos({
    contacts: 60,
    kills: 2,
    seed: 20_261_124,
    runtimes: ["node"],
  });
  expect(faults).toEqual([]);
  // A process that is stalled, and the machine with it, may end before its moment comes.
  expect(summary.killed).toBeGreaterThan(0);
});

it("by two services, one of which is down for a while, no attempt is at both, and no forged notification counts: three kills", async () => {
  const { faults, summary } = await chaos({
    contacts: 60,
    kills: 3,
    seed: 20_261_128,
    runtimes: ["node"],
    several: true,
  });
  expect(faults).toEqual([]);
  expect(summary.killed).toBeGreaterThan(0);
  expect(summary.forged).toBeGreaterThan(20);
  expect(Math.min(summary.main ?? 0, summary.spare ?? 0)).toBeGreaterThan(0);
});

it("no answer that was kept is lost where the process is killed among them: one kill", async () => {
  const { faults, summary } = await survey({ contacts: 20, kills: 1, seed: 20_261_124 });
  expect(faults).toEqual([]);
  expect(summary.killed).toBe(1);
  expect(summary.kept).toBeGreaterThan(0);
});
