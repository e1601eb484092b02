// `npm test`: sees to what the wanted jobs need, which test/jobs.ts says, and hands over to
// test/jobs/run.ts under a Node that runs TypeScript. Plain JavaScript, for whatever Node from 20 on
// the machine has.
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, readFileSync, symlinkSync } from "node:fs";
import { fileURLToPath } from "node:url";

const here = fileURLToPath(new URL(".", import.meta.url));
const node = `${here}node_modules/node/bin/node`;
const words = process.argv.slice(2);

const stop = (line) => {
  console.error(`npm test: ${line}`);
  process.exit(1);
};

const packagesOf = (file) => JSON.parse(readFileSync(`${here}${file}`, "utf8")).packages;

/** Whether what the lockfile says is there: all of it, or what is no devDependency. */
const isInstalled = (all) => {
  if (!existsSync(`${here}node_modules/.package-lock.json`)) return false;
  const there = packagesOf("node_modules/.package-lock.json");
  return Object.entries(packagesOf("package-lock.json")).every(
    ([path, { version, dev, devOptional, optional }]) =>
      path === "" || optional || devOptional || (dev && !all) || there[path]?.version === version,
  );
};

const install = (all) => {
  if (!isInstalled(all)) {
    const what = all
      ? "every runtime and tool of the tests (about 1 GB)"
      : "Node 24 and what the unit tests import (190 MB)";
    console.log(`Installing ${what} in test/node_modules …`);
    const args = ["ci", "--no-audit", "--no-fund", ...(all ? [] : ["--omit=dev"])];
    const { status } = spawnSync("npm", args, { cwd: here, stdio: "inherit" });
    if (status !== 0) stop("that could not be installed; see above.");
  }
  const self = `${here}node_modules/outdial`;
  if (!existsSync(self)) symlinkSync("../..", self);
};

// Without a word every job is wanted, and there is no need to ask.
install(words.length === 0);
const said = execFileSync(node, [`${here}jobs/needs.ts`, ...words], { encoding: "utf8" });
const { jobs, needs, wants } = JSON.parse(said);
if (jobs === 0) stop(`no job has ${words.join(" or ")} in its name.`);
if (needs.includes("runtimes")) install(true);

if (needs.includes("peers")) {
  const peers = "import('./bench/install.ts').then((p) => process.exit(p.install() ? 0 : 1))";
  const { status } = spawnSync(node, ["-e", peers], { cwd: here, stdio: "inherit" });
  if (status !== 0) stop("the peers of the bench could not be installed; see above.");
}

/** The first of some programs that runs here. */
const found = (...programs) =>
  programs.find(([command, ask]) => spawnSync(command, [ask], { stdio: "ignore" }).status === 0);

/** Playwright's own Chromium, if it was ever fetched. */
const playwright = `${here}node_modules/playwright-core`;
const findOwn = () => {
  const print = `import("${playwright}/index.mjs").then((p) => console.log(p.chromium.executablePath()))`;
  return existsSync(playwright)
    ? [execFileSync(node, ["-e", print], { encoding: "utf8" }).trim()]
    : [];
};

const findChromium = () => {
  const { CHROMIUM_PATH: named } = process.env;
  const names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
  const asked = named ? [named] : [...names, ...findOwn()];
  const browser = found(...asked.map((name) => [name, "--version"]));
  return browser && execFileSync("which", [browser[0]], { encoding: "utf8" }).trim();
};

/** Programs of the system: how to find each, and Debian's package of it. */
const tools = {
  chromium: { find: findChromium, name: "chromium" },
  sox: { find: () => found(["sox", "--version"]), name: "sox" },
  openssl: { find: () => found(["openssl", "version"]), name: "openssl" },
  ip: { find: () => found(["ip", "-V"]), name: "iproute2" },
};
const used = Object.keys(tools).filter((tool) => [...needs, ...wants].includes(tool));
const absent = () => used.filter((tool) => !tools[tool].find());

const lacking = absent();
if (lacking.length > 0 && process.getuid?.() === 0) {
  const packages = lacking.map((tool) => tools[tool].name);
  const fetch = ["install", "-y", "--no-install-recommends", ...packages];
  console.log(`No ${lacking.join(", ")} on this machine. As you are root, this will fetch them:`);
  console.log(`  apt-get update && apt-get ${fetch.join(" ")}`);
  for (const args of [["update"], fetch]) {
    spawnSync("apt-get", args, { stdio: ["ignore", "ignore", "inherit"] });
  }
}
if (absent().includes("chromium")) {
  console.log("No Chromium on this machine. This will fetch one for your user alone:");
  console.log("  npx playwright-core install chromium");
  spawnSync(node, [`${playwright}/cli.js`, "install", "chromium"], { stdio: "ignore" });
}
const missing = absent();
for (const tool of missing) {
  const { name } = tools[tool];
  console.log(
    `No ${tool} on this machine, and some jobs need it: install ${name} (Debian's name).`,
  );
}
if (process.env.CI && missing.some((tool) => needs.includes(tool))) stop("CI runs every job.");

const build = spawnSync("npm", ["run", "build", "--silent", "--", "--silent"], {
  cwd: `${here}..`,
  stdio: "inherit",
});
if (build.status !== 0) stop("the package does not build; see above.");

const { status } = spawnSync(node, [`${here}jobs/run.ts`, ...words], {
  cwd: `${here}..`,
  stdio: "inherit",
  env: {
    ...process.env,
    MISSING: missing.join(" "),
    ...(used.includes("chromium") && { CHROMIUM_PATH: findChromium() ?? "" }),
  },
});
process.exit(status ?? 1);
