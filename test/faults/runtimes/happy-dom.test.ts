// @vitest-environment happy-dom
import { expect, test } from "vitest";
import { attemptAll, report } from "../attempt.ts";

test("the faults, in a happy-dom window", { timeout: 120_000 }, async () => {
  expect("happyDOM" in window).toBe(true);
  const { CONTROL = "" } = process.env;
  console.log(report(await attemptAll(CONTROL, "happy-dom")));
});
