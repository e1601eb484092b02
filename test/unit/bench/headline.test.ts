import { expect, test } from "vitest";
import { headline } from "../../bench/report/headline.ts";
import type { Standing } from "../../bench/section.ts";

const standing: Standing = {
  entry: "outdial/fetch",
  what: "the size of a Worker",
  other: "`smallest`",
  ahead: 2,
};
const rate = { ...standing, what: "calls a second", other: "`axios`" };

test("one sentence says where each entry is ahead of the best other client, and how far", () => {
  const [leads] = headline([
    standing,
    { ...rate, where: "1 in flight", ahead: 1.25 },
    { ...rate, where: "50 in flight", ahead: 1.5 },
    { ...standing, entry: "outdial", ahead: 1.1 },
  ]);
  expect(leads).toContain(
    "`outdial/fetch` is better than any other client here in the size of a Worker (2.00 x `smallest`) " +
      "and in calls a second (1 in flight: 1.25 x `axios`; 50 in flight: 1.50 x `axios`); " +
      "`outdial` is better than any other client here in the size of a Worker (1.10 x `smallest`).",
  );
});

test.each([0.5, 1, Number.NaN])("%d times as good is no lead", (ahead) => {
  const [leads, , trails] = headline([standing, { ...rate, ahead }]);
  expect(leads).not.toContain("calls a second");
  expect(trails).toContain(
    "another client is as good as `outdial/fetch` or better in calls a second",
  );
});

test("to lead nowhere, or everywhere, is said too", () => {
  expect(headline([{ ...standing, ahead: 0.9 }])[0]).toContain("no client of ours is ahead");
  expect(headline([standing])[2]).toContain("nowhere that was measured");
});

test("nothing is said while nobody was compared", () => {
  expect(headline([])).toEqual([]);
});
