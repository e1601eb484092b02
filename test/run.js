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

// Reads the emulator's recordings, as does Python's `wave`, where there is no sox to be had.
if (!found("sox", ["--version"])) {
  console.log("No sox on this machine: fetching it …");
  if (!(aptGet("update") && aptGet("install", "-y", "--no-install-recommends", "sox"))) {
    console.log("It can't be fetched here: the recordings are read by Python alone.");
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
