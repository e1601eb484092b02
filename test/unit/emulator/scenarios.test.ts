import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { scenarios } from "../../../src/emulator/index.ts";

test("docs/emulator.md lists the scenarios as the table has them, in the same order", () => {
  const page = readFileSync(new URL("../../../docs/emulator.md", import.meta.url), "utf8");
  const rows = [...page.matchAll(/^\| `(\+\d+)`(?: and any other)? \| (.*) \|$/gm)];
  expect(rows.map(([, to_number, description]) => [to_number, description])).toEqual(
    scenarios.map(({ to_number, description }) => [to_number, description]),
  );
});
