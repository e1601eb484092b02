import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { Stryker } from "@stryker-mutator/core";
import { startPeer } from "../jobs/execute.ts";
import { writeSection } from "../section.ts";
import { mutantsOf } from "./mutants.ts";
import { byFile, least, outdated, reasons, scoreOf, unexplained } from "./report.ts";
import { survivors } from "./survivors.ts";

/**
 * Changes `src` piece by piece, and sees whether a test notices. Fails below 85 %, and when a change
 * survives that `survivors.json` gives no reason for. `--incremental` takes over from the last run what
 * was noticed, where neither the code nor the test has changed since; `--mutate` tries some files only, and writes
 * nothing; `--lanes` is how many are tried at a time.
 */
const { values } = parseArgs({
  options: {
    mutate: { type: "string", multiple: true },
    incremental: { type: "boolean", default: false },
    lanes: { type: "string", default: "2" },
  },
});
process.chdir(new URL("../..", import.meta.url).pathname);
const artefacts = "test/artefacts/mutation";
mkdirSync(artefacts, { recursive: true });

/** What places calls, hears of them and answers for them, down to the ground that it stands on. */
const mutated = [
  "src/{client,errors,options}.ts",
  "src/{agents,bytes,callbacks,calls,campaigns,flows,request,rules}/**/*.ts",
];

/** Stryker would take over survivors too, though there may be new tests that reach them. */
const forgetSurvivors = (file: string): void => {
  if (!existsSync(file)) return;
  const kept = JSON.parse(readFileSync(file, "utf8"));
  for (const each of Object.values<{ mutants: { status: string }[] }>(kept.files)) {
    each.mutants = each.mutants.filter(({ status }) => status === "Killed");
  }
  writeFileSync(file, JSON.stringify(kept));
};
const incrementalFile = `${artefacts}/incremental.json`;
if (values.incremental) forgetSurvivors(incrementalFile);

const peer = await startPeer(process.execPath);
process.env.PEER = peer.url;
const stryker = new Stryker({
  testRunner: "vitest",
  plugins: ["@stryker-mutator/vitest-runner"],
  vitest: { configFile: "test/mutation/vitest.config.ts", related: false },
  mutate: values.mutate ?? mutated,
  ignorePatterns: [
    "**",
    "!src/**",
    "!test/{unit,conformance,coverage,mutation,peer}/**",
    "!examples/own-agent/**",
    "!*.json",
  ],
  tempDirName: `${artefacts}/copies`,
  incremental: values.incremental,
  incrementalFile,
  concurrency: Number(values.lanes),
  // A busy machine must not pass for a mutant that never ends.
  timeoutMS: 10_000,
  timeoutFactor: 4,
  reporters: ["progress-append-only", "html"],
  htmlReporter: { fileName: `${artefacts}/report.html` },
});
const results = await stryker.runMutationTest();
peer.stop();
writeFileSync(`${artefacts}/mutants.json`, JSON.stringify(results));

const mutants = mutantsOf(results);
const report = [byFile(mutants), reasons(survivors)].join("\n\n");
console.log(`\n${report}\n`);
const failures = unexplained(mutants, survivors).map(
  ({ file, at, from, to, status }) => `${file}:${at}: ${status}\n  - ${from}\n  + ${to}`,
);
if (!values.mutate) {
  writeSection("mutation", report);
  for (const { file, from, to } of outdated(mutants, survivors)) {
    failures.push(`${file}: listed, but survives no more\n  - ${from}\n  + ${to}`);
  }
  if (!(scoreOf(mutants) >= least)) failures.push(`less than ${least} %`);
}
for (const failure of failures) console.log(`FAILED ${failure}`);
process.exit(failures.length > 0 ? 1 : 0);
