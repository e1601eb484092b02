import { expect, it } from "vitest";
import { chaos } from "./chaos.ts";
import { survey } from "./survey.ts";

it("nobody is called twice, whatever happens to the process, the network and the clock", async () => {
  const { faults, summary } = await chaos({
    contacts: 160,
    kills: 4,
    seed: 20_261_121,
    runtimes: ["node"],
  });
  expect(faults).toEqual([]);
  // A process that is stalled, and the machine with it, may end before its moment comes.
  expect(summary.killed).toBeGreaterThan(0);
});

it("nor with Twilio", async () => {
  const { faults, summary } = await chaos({
    contacts: 60,
    kills: 2,
    seed: 20_261_122,
    runtimes: ["node"],
    service: "twilio",
  });
  expect(faults).toEqual([]);
  expect(summary.killed).toBeGreaterThan(0);
});

it("no answer that was kept is lost, and none is another's, where the process is killed among them", async () => {
  const { faults, summary } = await survey({ contacts: 30, kills: 3, seed: 20_261_123 });
  expect(faults).toEqual([]);
  expect(summary.killed).toBe(3);
  expect(summary.kept).toBeGreaterThan(0);
});
