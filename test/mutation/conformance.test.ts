import { DatabaseSync } from "node:sqlite";
import { inspect } from "node:util";
import { test } from "vitest";
import { cases } from "../conformance/index.ts";

// Each case as a test of its own, so that a mutant meets only the cases that reach it. Those of the
// emulator are about another part, and some measure time: on a busy machine they would accuse anyone.
const env = {
  runtime: "node24",
  peer: process.env.PEER ?? "",
  inspect: (value: unknown) => inspect(value, { depth: 9, showHidden: true }),
  storage: () => new DatabaseSync(":memory:"),
} as const;

for (const { name, run } of cases) {
  if (!name.startsWith("emulator: ")) test(name, () => run(env));
}
