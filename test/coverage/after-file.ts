import { writeFileSync } from "node:fs";
import { afterAll, expect } from "vitest";
import { countsHere } from "./counts.ts";

// Vitest's own process imports `src` in the unit tests, and what is built of it in others. The window of
// happy-dom reports by itself.
afterAll(() => {
  const counts = countsHere();
  if (!counts || "happyDOM" in globalThis) return;
  const [, folder] = /.*\/test\/(\w+)\//.exec(expect.getState().testPath ?? "") ?? [];
  const file = `${process.env.COUNTS}/${folder} ${crypto.randomUUID()}.json`;
  writeFileSync(file, JSON.stringify(counts));
});
