import { writeFileSync } from "node:fs";
import { afterAll } from "vitest";
import { countsHere } from "./counts.ts";

// Vitest's own process imports `src` in the unit tests. The window of happy-dom reports by itself.
afterAll(() => {
  const counts = countsHere();
  if (!counts || "happyDOM" in globalThis) return;
  const file = `${process.env.COUNTS}/unit ${crypto.randomUUID()}.json`;
  writeFileSync(file, JSON.stringify(counts));
});
