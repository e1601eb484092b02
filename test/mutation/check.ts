import { existsSync, readFileSync } from "node:fs";
import { words } from "./mutants.ts";
import { survivors } from "./survivors.ts";

/** Fails when a survivor is listed whose line is not in its file any more: a word of it long before a run. */
const isGone = (file: string, line: string): boolean =>
  !existsSync(file) || !readFileSync(file, "utf8").split("\n").map(words).includes(line);

const gone = survivors.filter(({ file, line }) => isGone(file, line));
for (const { file, line, why } of gone) {
  console.log(`${file} has no such line, so test/mutation/survivors.json must follow (${why}):`);
  console.log(`  ${line}`);
}
process.exit(gone.length > 0 ? 1 : 0);
