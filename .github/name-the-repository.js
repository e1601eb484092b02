// A step of release.yml: npm refuses a package with provenance that does not name its repository, and
// npm's page of a package knows no files beside README.md. Both are told here from where the workflow
// runs, so that a fork releases under its own name, and nothing has to be kept in step by hand.
import { readFileSync, writeFileSync } from "node:fs";

const { GITHUB_SERVER_URL: server, GITHUB_REPOSITORY: name, GITHUB_REF_NAME: tag } = process.env;
if (!server || !name || !tag) throw new Error("This is no workflow's run.");
const repository = `${server}/${name}`;

const manifest = JSON.parse(readFileSync("package.json", "utf8"));
Object.assign(manifest, {
  repository: { type: "git", url: `git+${repository}.git` },
  homepage: `${repository}#readme`,
  bugs: { url: `${repository}/issues` },
});
writeFileSync("package.json", `${JSON.stringify(manifest, null, 2)}\n`);

/** A link that leads to a file: with no scheme, and not to a place on the same page. */
const toFile = "(?![a-z]+:|#|//)(?:\\./)?";
const absolute = (text) =>
  text
    .replace(new RegExp(`(!\\[[^\\]]*\\]\\()${toFile}`, "g"), `$1${repository}/raw/${tag}/`)
    .replace(new RegExp(`(\\bsrc=")${toFile}`, "g"), `$1${repository}/raw/${tag}/`)
    .replace(new RegExp(`(\\]\\()${toFile}`, "g"), `$1${repository}/blob/${tag}/`)
    .replace(new RegExp(`(\\bhref=")${toFile}`, "g"), `$1${repository}/blob/${tag}/`);

// What stands between fences is code, and stays as it is.
const pieces = readFileSync("README.md", "utf8").split(/^(```[\s\S]*?^```)/m);
writeFileSync("README.md", pieces.map((piece, at) => (at % 2 ? piece : absolute(piece))).join(""));
