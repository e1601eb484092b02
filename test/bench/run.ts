// `npm run bench`: everything side by side in one run. `--smoke`: one round, to see that it works: fails
// where somebody can't be measured.
// `--report`: only the report, again, out of results.json.
// Names of measurements (`size`, `loopback` …): only those, and the rest of the report as it was.
import { generateKeyPairSync } from "node:crypto";
import { globSync, readFileSync } from "node:fs";
import { cpus, totalmem } from "node:os";
import { basename } from "node:path";
import process from "node:process";
import type { Bench } from "./bench.ts";
import { buildFile, clearBuilt } from "./build.ts";
import { calibrate, noiseLine } from "./calibration.ts";
import { firstLine, start } from "./child.ts";
import { has, install } from "./install.ts";
import { measurements } from "./measurements.ts";
import { here } from "./paths.ts";
import type { Measured, Results } from "./report/markdown.ts";
import { readResults, writeReport } from "./report/write.ts";
import { node, runtimes } from "./runtimes.ts";
import { subjects as all } from "./subjects.ts";

/** What is so for a peer, and nothing that broke. */
const isItsNature = (remark: string) => remark.includes("does not build without `nodejs_compat`");

const before = readResults();
if (process.argv.includes("--report")) {
  if (before) writeReport(before);
  process.exit();
}
const smoke = process.argv.includes("--smoke");
const wanted = process.argv.slice(2).filter((word) => word in measurements);
const chosen = wanted.length ? wanted : Object.keys(measurements);

install();
const absent = all.flatMap(({ peer }) => (peer && !has(peer) ? [peer] : []));
if (absent.length) console.log(`Not installed, so not measured: ${absent.join(", ")}`);
// A smoke makes do with a peer of each kind.
const subjects = all.filter(
  ({ peer, smoke: enough }) => !peer || (has(peer) && (enough || !smoke)),
);
if (smoke) console.log(`One round of ${subjects.map(({ name }) => name).join(", ")}`);

// One for all: the key with which a peer signs each call.
const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
process.env.BENCH_RSA_KEY = String(privateKey.export({ type: "pkcs8", format: "pem" }));
process.env.NODE_NO_WARNINGS = "1";

clearBuilt();
const files: Record<string, string> = {};
for (const { name } of subjects) files[name] = await buildFile(`clients/${name}.ts`, name);
if (has("axios")) files.axios = await buildFile("clients/axios.ts", "axios");
for (const path of globSync("{work,operations}/*.ts", { cwd: here })) {
  const name = basename(path, ".ts");
  files[name] = await buildFile(path, name);
}

const server = await start([...node.command, files.server ?? ""]);
const bench: Bench = {
  smoke,
  subjects,
  runtimes: smoke ? [node] : runtimes,
  server: server.said,
  files,
};
const measured = new Map<string, Measured>();
const broken = smoke ? absent.map((peer) => `${peer} is not installed`) : [];
const date = new Date().toISOString().slice(0, 10);
for (const name of chosen) {
  calibrate();
  const began = performance.now();
  const section = await measurements[name]?.(bench);
  if (!section) continue;
  const noise = noiseLine();
  measured.set(name, { ...section, name, date, noise });
  console.log(`\n${section.title}, ${((performance.now() - began) / 1000).toFixed(1)} s`);
  for (const { columns, rows, title = "" } of section.tables) {
    console.log(`  ${title}  [${columns.join(" | ")}]`);
    for (const row of rows) console.log(`    ${row.join(" | ").replaceAll("*", "")}`);
  }
  console.log(`  noise: ${noise}`);
  for (const remark of section.remarks) console.log(`  not measured: ${remark}`);
  if (smoke) {
    broken.push(...section.remarks.filter((remark) => !isItsNature(remark)));
    continue;
  }
  for (const { goal, measured, met } of section.targets) {
    console.log(`  ${met ? "met   " : "MISSED"} ${goal}: ${measured}`);
  }
}
server.stop();
for (const each of broken) console.error(`FAILED ${each}`);
if (broken.length) process.exitCode = 1;

if (!smoke) {
  const versionOf = (name: string) =>
    JSON.parse(readFileSync(`${here}node_modules/${name}/package.json`, "utf8")).version;
  const versions: Record<string, string> = {};
  for (const { label, command } of runtimes) {
    const [program = ""] = command;
    versions[label] = (await firstLine([program, "--version"])).line.replace(/^(v|deno )/, "");
  }
  for (const { peer } of subjects) if (peer) versions[`\`${peer}\``] = versionOf(peer);
  const results: Results = {
    machine: `${cpus().length} cores (${cpus()[0]?.model.trim()}), ${Math.round(totalmem() / 2 ** 30)} GiB, ${process.platform}`,
    versions,
    absent,
    notes: subjects.flatMap(({ label, note }) => (note ? [`${label}: ${note}.`] : [])),
    sections: Object.keys(measurements).flatMap(
      (name) => measured.get(name) ?? before?.sections.find((each) => each.name === name) ?? [],
    ),
  };
  writeReport(results);
}
