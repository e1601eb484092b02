// @vitest-environment happy-dom
import "../watch.ts"; // Before the package.
import { expect, test } from "vitest";
import { attemptAll, report } from "../attempt.ts";

test("the faults, in a happy-dom window", { timeout: 900_000 }, async () => {
  expect("happyDOM" in window).toBe(true);
  const { CONTROL = "" } = process.env;
  console.log(report(await attemptAll(CONTROL, "happy-dom")));
});
