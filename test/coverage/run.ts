import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { makeCopy } from "./copy.ts";
import { contributionsIn, merge } from "./merge.ts";

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
inCopy("test/jobs.ts", ...process.argv.slice(2));
const contributions = contributionsIn(tree, counts);
for (const [who, runs] of contributions) {
  const { statements, branches } = merge(empty, runs).getCoverageSummary();
  console.log(who, statements.pct, branches.pct);
}
const all = merge(empty, [...contributions.values()].flat());
const { statements, branches } = all.getCoverageSummary();
console.log(statements, branches);
for (const file of all.files()) {
  const one = all.fileCoverageFor(file);
  const sum = one.toSummary();
  if (sum.statements.pct < 100 || sum.branches.pct < 100) {
    console.log(file, sum.statements.pct, sum.branches.pct);
    for (const [at, count] of Object.entries(one.s)) if (count === 0) console.log("  s", one.statementMap[at]?.start.line, one.statementMap[at]?.start.column);
    for (const [at, c] of Object.entries(one.b)) c.forEach((count, path) => { if (count === 0) console.log("  b", one.branchMap[at]?.type, one.branchMap[at]?.locations[path]?.start.line ?? one.branchMap[at]?.loc.start.line, path) });
  }
}
