// `npm test` and `npm run test:long`, on any Node from 20 on: installs what the wanted projects need (projects.json), builds
// the package, and runs vitest under Node 24.
// Usage: npm test -- [part of a project's name | project/part of a path …] [vitest's options]
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, symlinkSync } from "node:fs";
import { fileURLToPath } from "node:url";

process.chdir(fileURLToPath(new URL("..", import.meta.url)));
const node = "test/node_modules/node/bin/node";

const isLong = process.argv[2] === "--long";
const command = isLong ? "npm run test:long" : "npm test";
const args = process.argv.slice(isLong ? 3 : 2);
const end = args.findIndex((arg) => arg.startsWith("-"));
const words = args.slice(0, end < 0 ? args.length : end);
const options = args.slice(words.length);

const stop = (reason) => {
  console.error(`${command}: ${reason}`);
  process.exit(1);
};

const succeeds = (command, args, options) =>
  spawnSync(command, args, { stdio: "inherit", ...options }).status === 0;

const readJson = (file) => JSON.parse(readFileSync(file, "utf8"));
const projects = Object.entries(readJson("test/projects.json")[command]).filter(
  ([name]) => words.length === 0 || words.some((word) => name.includes(word.split("/")[0])),
);
if (projects.length === 0) stop(`no project has ${words.join(" or ")} in its name.`);
const needs = new Set(projects.flatMap(([, needs]) => needs));

/** Whether a folder has the packages of its lockfile; without `dev`, those of its `dependencies`. */
const isInstalled = (folder, dev) => {
  const installed = `${folder}/node_modules/.package-lock.json`;
  if (!existsSync(installed)) return false;
  const present = readJson(installed).packages;
  return Object.entries(readJson(`${folder}/package-lock.json`).packages).every(
    ([path, wanted]) =>
      path === "" ||
      wanted.optional ||
      wanted.devOptional ||
      (wanted.dev && !dev) ||
      present[path]?.version === wanted.version,
  );
};

const install = (folder, what, dev = true) => {
  if (isInstalled(folder, dev)) return;
  console.log(`Installing ${what} in ${folder}/node_modules …`);
  const args = ["ci", "--no-audit", "--no-fund", ...(dev ? [] : ["--omit=dev"])];
  if (!succeeds("npm", args, { cwd: folder })) stop("npm ci failed, see above.");
};

if (needs.has("runtimes")) install("test", "every runtime and tool of the tests (about 1 GB)");
else install("test", "Node 24 and what the unit tests import (190 MB)", false);
if (needs.has("peers")) install("test/bench", "the clients that the bench compares (180 MB)");
if (!existsSync("test/node_modules/outdial")) symlinkSync("../..", "test/node_modules/outdial");

/** The path of the first of some commands that is on this machine. */
const which = (...names) =>
  names
    .map((name) => spawnSync("which", [name], { encoding: "utf8" }).stdout?.trim())
    .find((path) => path);

// The headless shell draws no window: a page costs it half as much.
const browsers = [
  ...["chromium-headless-shell", "chromium", "chromium-browser"],
  ...["google-chrome", "google-chrome-stable"],
];
const findChromium = () => process.env.CHROMIUM_PATH || which(...browsers);

/** Programs of the system: how to find each, and the Debian package that has it. */
const programs = {
  chromium: { find: findChromium, debian: "chromium-headless-shell" },
  sox: { find: () => which("sox"), debian: "sox" },
  openssl: { find: () => which("openssl"), debian: "openssl" },
  ip: { find: () => which("ip"), debian: "iproute2" },
};
const findMissing = () =>
  Object.keys(programs).filter((name) => needs.has(name) && !programs[name].find());

let missing = findMissing();
if (missing.length > 0 && process.getuid?.() === 0) {
  const packages = missing.map((name) => programs[name].debian).join(" ");
  // One after the other: a system that lacks one package still gets the others.
  const install = "apt-get install -qq -y --no-install-recommends $package";
  const script = `apt-get update -qq && for package in ${packages}; do ${install}; done`;
  console.log(
    `Not on this machine: ${missing.join(", ")}. As you are root, this installs it:\n  ${script}`,
  );
  succeeds("sh", ["-c", `${script} >/dev/null`]);
  missing = findMissing();
}
if (missing.includes("chromium")) {
  const cli = "test/node_modules/playwright-core/cli.js";
  console.log("No Chromium on this machine. This downloads one for your user alone:");
  console.log("  npx playwright-core install --only-shell chromium");
  if (succeeds(node, [cli, "install", "--only-shell", "chromium"])) {
    missing = missing.filter((name) => name !== "chromium");
  }
}
const skipped = projects.flatMap(([name, needs]) => {
  const absent = needs.filter((need) => missing.includes(need));
  return absent.length > 0 ? [{ name, reason: `install ${absent.join(" and ")}` }] : [];
});
const printSkipped = () => {
  for (const { name, reason } of skipped) console.log(`not run: ${name}: ${reason}`);
};
printSkipped();
if (process.env.CI && skipped.length > 0) stop("in CI every project must run.");
const names = projects
  .map(([name]) => name)
  .filter((name) => !skipped.some((one) => one.name === name));
if (names.length === 0) process.exit(1);

if (!succeeds("npm", ["run", "build", "--silent", "--", "--silent"])) stop("the build failed.");
const vitest = ["node_modules/vitest/vitest.mjs", "run", "--config=test/vitest.config.ts"];
const paths = words.filter((word) => word.includes("/"));
const passed = succeeds(
  node,
  [...vitest, ...names.map((name) => `--project=${name}`), ...options, ...paths],
  { env: { ...process.env, CHROMIUM_PATH: findChromium() ?? "" } },
);
printSkipped();
process.exit(passed ? 0 : 1);
