// @vitest-environment happy-dom
import { inspect } from "node:util";
import { expect, test } from "vitest";
import { listIn, report, run } from "../conformance/run.ts";

test("the list of cases, in a happy-dom window", { timeout: 580_000 }, async () => {
  expect("happyDOM" in window).toBe(true);
  const { PEER: peer = "", LIST: list } = process.env;
  const results = await run({
    runtime: "happy-dom",
    peer,
    ...listIn(list),
    inspect: (value) => inspect(value, { depth: 9, showHidden: true }),
  });
  console.log(report(results));
  expect(results.filter(({ error }) => error)).toEqual([]);
});
