import { mkdirSync, writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { Stryker } from "@stryker-mutator/core";
import { startPeer } from "../jobs/execute.ts";

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

const mutated = [
  "src/transport.ts",
  "src/errors.ts",
  "src/refusal.ts",
  "src/redact.ts",
  "src/deadline.ts",
  "src/calls/create.ts",
  "src/callbacks/**/*.ts",
  "src/flows/**/*.ts",
];

const peer = await startPeer(process.execPath);
process.env.PEER = peer.url;
const stryker = new Stryker({
  testRunner: "vitest",
  plugins: ["@stryker-mutator/vitest-runner"],
  vitest: { configFile: "test/mutation/vitest.config.ts", related: false },
  mutate: values.mutate ?? mutated,
  ignorePatterns: ["**", "!src/**", "!test/{unit,conformance,mutation,peer}/**", "!*.json"],
  tempDirName: `${artefacts}/copies`,
  incremental: values.incremental,
  incrementalFile: `${artefacts}/incremental.json`,
  concurrency: Number(values.lanes),
  timeoutMS: 10_000,
  reporters: ["clear-text", "html"],
  clearTextReporter: { logTests: false, reportTests: false, allowColor: false },
  htmlReporter: { fileName: `${artefacts}/report.html` },
});
const results = await stryker.runMutationTest();
peer.stop();
writeFileSync(`${artefacts}/mutants.json`, JSON.stringify(results));
