import { test } from "vitest";
import { cases } from "../../../conformance/programs.ts";

for (const { name, run } of cases) {
  test(`${name}, on each line`, () =>
    run({ runtime: "node24", everyLine: true, peer: "", inspect: String }));
}
