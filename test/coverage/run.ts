import { spawnSync } from "node:child_process";
import { writeSection } from "../section.ts";
import { makeCopy } from "./copy.ts";
import { contributionsIn, merge } from "./merge.ts";
import { byContributor, byFolder, fails, filesBelow, least } from "./report.ts";

/**
 * Runs the tests on a copy whose `src` counts, in every runtime, and adds the counts up. Fails below
 * 95 % of the statements or of the branches, or when a test fails.
 */
process.chdir(new URL("../..", import.meta.url).pathname);
const tree = `${process.cwd()}/test/artefacts/coverage`;
const counts = `${tree}/counts`;
const empty = makeCopy(tree, counts);

const inCopy = (...args: readonly string[]) => {
  const { status } = spawnSync(process.execPath, args, {
    cwd: tree,
    stdio: "inherit",
    env: { ...process.env, COUNTS: counts },
  });
  if (status !== 0) process.exit(1);
};
inCopy("node_modules/tsup/dist/cli-default.js", "--silent", "--no-dts");
inCopy("test/jobs/run.ts", "unit", "cli", "dashboard", "agents", "conformance");

const contributions = contributionsIn(tree, counts);
const each = new Map([...contributions].map(([who, runs]) => [who, merge(empty, runs)]));
const all = merge(empty, [...contributions.values()].flat());
const report = [byFolder(all), filesBelow(all), byContributor(each)].join("\n\n");
console.log(`\n${report}`);
writeSection("coverage", report);
if (fails(all)) {
  console.log(`\nFAILED: less than ${least} % of the statements or of the branches`);
  process.exit(1);
}
