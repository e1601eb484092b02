// `npm run bench`: everything side by side in one run. `--smoke`: one round, to see that it works; fails
// where somebody can't be measured.
// `--report`: only the report, again, out of results.json.
// Names of measurements (`size`, `loopback` …): only those, and the rest of the report as it was.
import { spawnSync } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { cpus, totalmem } from "node:os";
import process from "node:process";
import { buildModule, buildProgram, clearBuilt, here, isInstalled } from "./build.ts";
import { agents } from "./measure/agents.ts";
import { loopback, perCall } from "./measure/calls.ts";
import { withCarriers } from "./measure/carriers.ts";
import { coldStart } from "./measure/cold-start.ts";
import { lists } from "./measure/lists.ts";
import { memory } from "./measure/memory.ts";
import { emulator, operations, signatures } from "./measure/operations.ts";
import { simulated } from "./measure/simulated.ts";
import { size } from "./measure/size.ts";
import { node, runToFirstLine, runtimes, start } from "./processes.ts";
import { type Measured, type Results, readResults, writeReport } from "./report.ts";
import { calibrate, listenForNoise, noiseLine } from "./rounds.ts";
import type { Bench, Section } from "./section.ts";
import { subjects as all, carriers } from "./subjects.ts";

/**
 * All that is measured, in the order of the report, by the word that selects it. Another one is a function in
 * `measure/` and a line here; what it runs in processes of its own is in operations.ts, `work/` or `agents/`.
 */
const measurements: Readonly<Record<string, (bench: Bench) => Promise<Section>>> = {
  size,
  "per-call": perCall,
  loopback,
  "cold-start": coldStart,
  carriers: withCarriers,
  memory,
  emulator,
  signatures,
  lists,
  agents,
  simulated,
};

/** The programs that run in processes of their own, by their names. */
const programs = {
  calls: "work/calls.ts",
  services: "work/services.ts",
  list: "work/list.ts",
  "list-dial": "work/list-dial.ts",
  agents: "agents/run.ts",
} as const;

/** A package in a lockfile. */
interface Locked {
  readonly version?: string;
  readonly optional?: boolean;
}

const packagesIn = (lockfile: string): Readonly<Record<string, Locked>> =>
  existsSync(lockfile) ? JSON.parse(readFileSync(lockfile, "utf8")).packages : {};

/** Installs the peers as the lockfile says, unless that was done: npm keeps what is installed in a lockfile, too. */
const install = (): void => {
  const present = packagesIn(`${here}node_modules/.package-lock.json`);
  const isComplete = Object.entries(packagesIn(`${here}package-lock.json`)).every(
    ([path, { version, optional }]) =>
      path === "" || optional || present[path]?.version === version,
  );
  if (isComplete) return;
  console.log("Installing the peers (about 180 MB) …");
  const { status } = spawnSync("npm", ["ci", "--no-audit", "--no-fund"], {
    cwd: here,
    stdio: ["ignore", "ignore", "inherit"],
  });
  if (status !== 0) console.error("The peers could not be installed; see above.");
};

const build = async (names: readonly string[]): Promise<Bench["files"]> => {
  clearBuilt();
  const files: Record<string, string> = {};
  for (const name of names) files[name] = await buildModule("clients", name);
  for (const name of operations) files[name] = await buildModule("operations", name);
  for (const [name, path] of Object.entries(programs)) files[name] = await buildProgram(path, name);
  return files;
};

const print = ({ title, tables, remarks, targets }: Section, noise: string, took: number): void => {
  console.log(`\n${title}, ${(took / 1000).toFixed(1)} s`);
  for (const { columns, rows, title = "" } of tables) {
    console.log(`  ${title}  [${columns.join(" | ")}]`);
    for (const row of rows) console.log(`    ${row.join(" | ").replaceAll("*", "")}`);
  }
  console.log(`  noise: ${noise}`);
  for (const remark of remarks) console.log(`  not measured: ${remark}`);
  if (smoke) return;
  for (const { goal, measured, met } of targets) {
    console.log(`  ${met ? "met   " : "MISSED"} ${goal}: ${measured}`);
  }
};

const versionsOf = async (peers: readonly string[]): Promise<Results["versions"]> => {
  const versions: Record<string, string> = {};
  for (const { label, command } of runtimes) {
    const [program = ""] = command;
    const { line } = await runToFirstLine([program, "--version"]);
    versions[label] = line.replace(/^(v|deno )/, "");
  }
  for (const peer of peers) {
    const manifest = readFileSync(`${here}node_modules/${peer}/package.json`, "utf8");
    versions[`\`${peer}\``] = JSON.parse(manifest).version;
  }
  return versions;
};

const before = readResults();
if (process.argv.includes("--report")) {
  if (before) writeReport(before);
  process.exit();
}
const smoke = process.argv.includes("--smoke");
const wanted = process.argv.slice(2).filter((word) => word in measurements);
const chosen = wanted.length ? wanted : Object.keys(measurements);

install();
const absent = all.flatMap(({ peer }) => (peer && !isInstalled(peer) ? [peer] : []));
if (absent.length) console.log(`Not installed, so not measured: ${absent.join(", ")}`);
// A smoke makes do with a peer of each kind.
const subjects = all.filter(
  ({ peer, smoke: enough }) => !peer || (isInstalled(peer) && (enough || !smoke)),
);
if (smoke) console.log(`One round of ${subjects.map(({ name }) => name).join(", ")}`);

// One for all: the key with which a peer signs each call.
const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
process.env.BENCH_RSA_KEY = String(privateKey.export({ type: "pkcs8", format: "pem" }));
process.env.NODE_NO_WARNINGS = "1";

const measuredAlone = carriers.flatMap(({ ours, peer }) => [ours, ...peer]);
const names = [...subjects, ...measuredAlone].map(({ name }) => name);
const files = await build([...new Set(names)]);
const server = await start([...node.command, files.services ?? "", "accept"]);
const bench: Bench = {
  smoke,
  subjects,
  runtimes: smoke ? [node] : runtimes,
  node,
  server: server.firstLine,
  files,
};
const measured = new Map<string, Measured>();
const broken = smoke ? absent.map((peer) => `${peer} is not installed`) : [];
/** A peer that no Worker can run is no failure of the bench. */
const isExpected = (remark: string) => remark.includes("does not build without `nodejs_compat`");
const date = new Date().toISOString().slice(0, 10);
const { stdout: head } = spawnSync("git", ["describe", "--always", "--dirty"], { cwd: here });
const commit = String(head).trim();
listenForNoise();
for (const name of chosen) {
  calibrate();
  const began = performance.now();
  const section = await measurements[name]?.(bench);
  if (!section) continue;
  const noise = noiseLine();
  measured.set(name, { ...section, name, date, commit, noise });
  print(section, noise, performance.now() - began);
  if (smoke) broken.push(...section.remarks.filter((remark) => !isExpected(remark)));
}
server.stop();
for (const each of broken) console.error(`FAILED ${each}`);
if (broken.length) process.exitCode = 1;

if (!smoke) {
  writeReport({
    machine: `${cpus().length} cores (${cpus()[0]?.model.trim()}), ${Math.round(totalmem() / 2 ** 30)} GiB, ${process.platform}`,
    versions: await versionsOf(subjects.flatMap(({ peer }) => peer ?? [])),
    absent,
    notes: subjects.flatMap(({ label, note }) => (note ? [`${label}: ${note}.`] : [])),
    sections: Object.keys(measurements).flatMap(
      (name) => measured.get(name) ?? before?.sections.find((each) => each.name === name) ?? [],
    ),
  });
}
