// `npm run docs`, on any Node from 20 on: installs what builds the site (test/site/package-lock.json), and builds it into
// test/site/built. With `-- --check` it then checks every page, and with `-- --serve` it serves them until ctrl-C. Plain
// JavaScript, so that any Node starts it.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

process.chdir(fileURLToPath(new URL(".", import.meta.url)));

/** Whether node_modules has what the lockfile asks for: npm writes what it installed into a lockfile of its own. */
const isInstalled = () => {
  const installed = "node_modules/.package-lock.json";
  if (!existsSync(installed)) return false;
  const { packages } = JSON.parse(readFileSync(installed, "utf8"));
  const wanted = Object.entries(JSON.parse(readFileSync("package-lock.json", "utf8")).packages);
  return wanted.every(
    ([path, { optional, version }]) =>
      path === "" || optional || packages[path]?.version === version,
  );
};

const run = (command, args) => {
  const { status } = spawnSync(command, args, { stdio: "inherit" });
  if (status !== 0) process.exit(status ?? 1);
};

if (!existsSync("../../node_modules/valibot")) {
  console.error('The sources import valibot and ky. Run "npm ci" first.');
  process.exit(1);
}
if (!isInstalled()) {
  console.log("Installing what builds the site (370 MB) in test/site/node_modules …");
  run("npm", ["ci", "--no-audit", "--no-fund"]);
}
const node = "node_modules/node/bin/node";
run(node, ["build.ts"]);
if (process.argv.includes("--serve")) run(node, ["preview.ts"]);
if (process.argv.includes("--check")) run(node, ["check.ts", ...process.argv.slice(2)]);
