import { expect, test } from "vitest";
import { eventLine, RefusalFilter } from "../../../../src/cli/emulator/events.ts";
import { createEmulator } from "../../../../src/emulator/index.ts";

const refused = (path: string, detail = `${path} was not found`) =>
  ({ type: "refused", at: "", method: "GET", path, status: 404, detail }) as const;

test("three refusals of a kind are printed, and then one in 10 s with the count of the others", () => {
  const filter = new RefusalFilter();
  const counts = Array.from({ length: 100 }, (_, at) => filter.count(refused(`/${at}`), at));
  expect(counts).toEqual([0, 0, 0, ...Array(97).fill(undefined)]);
  expect(filter.count(refused("/a", "another reason"), 100)).toBe(0);
  expect(filter.count(refused("/b"), 10_000)).toBe(97);
  expect(filter.count(refused("/b"), 10_001)).toBe(0);
});

test("a long path is cut at 200 characters, in the event and on its line", async () => {
  const service = { name: "twilio", account: `AC${"0".repeat(32)}` };
  const emulator = createEmulator({ service });
  await emulator.fetch(`https://emulator.test/${"x".repeat(5_000)}`);
  const [event] = emulator.refused;
  expect(event?.path).toHaveLength(200);
  const line = eventLine(
    event ?? refused(""),
    new Date(),
    () => undefined,
    (_, text) => text,
  );
  expect(line.length).toBeLessThan(700);
  await emulator.close();
});

test("a long URL of a flow is cut on its line", () => {
  const url = `https://app.example/${"x".repeat(5_000)}`;
  const flow = { type: "flow", at: "", call_id: "1", step: 1, ms: 1, url } as const;
  expect(
    eventLine(
      flow,
      new Date(),
      () => undefined,
      (_, text) => text,
    ).length,
  ).toBeLessThan(300);
});
