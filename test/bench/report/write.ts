import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { here } from "../paths.ts";
import { markdown, type Results } from "./markdown.ts";
import { svg } from "./plot.ts";

const kept = `${here}results.json`;

/** Writes all that is kept of a run: the numbers, the page, and its plots. */
export const writeReport = (results: Results): void => {
  writeFileSync(kept, `${JSON.stringify(results)}\n`);
  writeFileSync(`${here}README.md`, markdown(results));
  for (const plot of results.sections.flatMap(({ plots }) => plots)) {
    writeFileSync(`${here}${plot.file}.svg`, svg(plot));
  }
};

/** What is kept of the last run, if there was one. */
export const readResults = (): Results | undefined =>
  existsSync(kept) ? JSON.parse(readFileSync(kept, "utf8")) : undefined;
