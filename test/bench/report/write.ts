import { readFileSync, writeFileSync } from "node:fs";
import { here } from "../paths.ts";
import { markdown, type Results } from "./markdown.ts";
import { svg } from "./plot.ts";

/** Writes all that is kept of a run: the numbers, the page, and its plots. */
export const writeReport = (results: Results): void => {
  writeFileSync(`${here}results.json`, `${JSON.stringify(results)}\n`);
  writeFileSync(`${here}README.md`, markdown(results));
  for (const plot of results.sections.flatMap(({ plots }) => plots)) {
    writeFileSync(`${here}${plot.file}.svg`, svg(plot));
  }
};

/** Writes the page and the plots out of the numbers that are kept. */
export const writeAgain = (): void =>
  writeReport(JSON.parse(readFileSync(`${here}results.json`, "utf8")));
