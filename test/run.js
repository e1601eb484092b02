// `npm test`: fetches what the tests need, then hands over to test/jobs.ts under a Node that runs
// TypeScript. Plain JavaScript, for whatever Node from 20 on the machine has.
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const here = fileURLToPath(new URL(".", import.meta.url));
const installed = `${here}node_modules/.installed`;
const lock = readFileSync(`${here}package-lock.json`, "utf8");

const stop = (line) => {
  console.error(line);
  process.exit(1);
};

const found = (command, args) => spawnSync(command, args, { stdio: "ignore" }).status === 0;

if (!existsSync(installed) || readFileSync(installed, "utf8") !== lock) {
  console.log("Installing the runtimes and tools of the tests (about 1 GB) …");
  const npm = spawnSync("npm", ["ci", "--no-audit", "--no-fund"], { cwd: here, stdio: "inherit" });
  if (npm.status !== 0) stop("npm test: the runtimes could not be installed; see above.");
  symlinkSync("../..", `${here}node_modules/outdial`);
  writeFileSync(installed, lock);
}

// Under the Node that was just installed, as this one may not run TypeScript.
const peers = "import('./bench/install.ts').then(({ install }) => process.exit(install() ? 0 : 1))";
const { status: bench } = spawnSync(`${here}node_modules/node/bin/node`, ["-e", peers], {
  cwd: here,
  stdio: "inherit",
});
if (bench !== 0) stop("npm test: the peers of the bench could not be installed; see above.");

const build = spawnSync("npm", ["run", "build", "--silent", "--", "--silent"], {
  cwd: `${here}..`,
  stdio: "inherit",
});
if (build.status !== 0) stop("npm test: the package does not build; see above.");

const browsers = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
const aptGet = (...args) =>
  process.getuid?.() === 0 &&
  spawnSync("apt-get", args, { stdio: ["ignore", "ignore", "inherit"] }).status === 0;

/** The path of a Chromium: the one that is named, the system's, or one that is fetched now. */
const chromium = () => {
  const named = process.env.CHROMIUM_PATH;
  if (named) return found(named, ["--version"]) ? named : undefined;
  for (const name of browsers) {
    if (found(name, ["--version"])) {
      return execFileSync("which", [name], { encoding: "utf8" }).trim();
    }
  }
  console.log("No Chromium on this machine: fetching one …");
  if (aptGet("update") && aptGet("install", "-y", "--no-install-recommends", "chromium")) {
    return "/usr/bin/chromium";
  }
  const cli = `${here}node_modules/playwright-core/cli.js`;
  spawnSync(process.execPath, [cli, "install", "chromium"], { stdio: "ignore" });
  const print = "import('playwright-core').then((p) => console.log(p.chromium.executablePath()))";
  const path = execFileSync(process.execPath, ["-e", print], {
    cwd: here,
    encoding: "utf8",
  }).trim();
  return found(path, ["--version"]) ? path : undefined;
};

const browser = chromium();
if (!browser)
  stop("npm test needs a Chromium: set CHROMIUM_PATH, or install the package chromium.");

/** Tools of the system: how to ask for each, its package, and what is missing without it. */
const tools = [
  ["sox", "--version", "sox", "the emulator's recordings are read by Python's `wave` alone"],
  ["ip", "-V", "iproute2", "no network goes away in test/faults"],
  ["openssl", "version", "openssl", "test/faults has no certificates"],
];
for (const [tool, ask, name, without] of tools) {
  if (found(tool, [ask])) continue;
  console.log(`No ${tool} on this machine: fetching it …`);
  if (!(aptGet("update") && aptGet("install", "-y", "--no-install-recommends", name))) {
    console.log(`It can't be fetched here: ${without}.`);
  }
}

const { status } = spawnSync(
  `${here}node_modules/node/bin/node`,
  [`${here}jobs.ts`, ...process.argv.slice(2)],
  {
    cwd: `${here}..`,
    stdio: "inherit",
    env: { ...process.env, CHROMIUM_PATH: browser },
  },
);
process.exit(status ?? 1);
