// A step of release.yml: npm refuses a package with provenance that does not name its repository, and a
// reader of the package has none of the files that are not in it. So this names the repository in which the
// workflow runs: in package.json, and in every link of the package's Markdown that leads out of the package.
// A fork releases under its own name. test/site/sources.ts does the same for the site.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { posix } from "node:path";

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

const isPacked = (file) => /^((README|AGENTS|CHANGELOG)\.md|LICENSE|docs\/[^/]+)$/.test(file);

/** The Markdown of the package. */
const pages = [
  "README.md",
  "AGENTS.md",
  "CHANGELOG.md",
  ...readdirSync("docs").map((file) => `docs/${file}`),
].filter((file) => /\.(md|txt)$/.test(file));

/** The address of a link on a page. One with a scheme, or to a place on the same page, stays as it is. */
const addressOf = (page, link, kind) => {
  if (/^([a-z]+:|#|\/\/)/.test(link)) return link;
  const [path, ...anchor] = link.split(/(?=#)/);
  const file = posix.join(posix.dirname(page), path).replace(/\/$/, "");
  // npm and JSR show README.md without the files beside it.
  if (isPacked(file) && page !== "README.md") return link;
  const isFolder = !/\.\w+$/.test(file) && file !== "LICENSE";
  return [`${repository}/${isFolder ? "tree" : kind}/${tag}/${file}`, ...anchor].join("");
};

for (const page of pages) {
  const absolute = (kind) => (_, before, link) => before + addressOf(page, link, kind);
  // What stands between fences is code, and stays as it is, but for the address of the repository.
  const pieces = readFileSync(page, "utf8")
    .replaceAll("<address of this repository>", repository)
    .split(/^(```[\s\S]*?^```)/m)
    .map((piece, at) =>
      at % 2
        ? piece
        : piece
            .replace(/(!\[[^\]]*\]\()([^)\s]+)/g, absolute("raw"))
            .replace(/(\bsrc=")([^"]+)/g, absolute("raw"))
            .replace(/(\]\()([^)\s]+)/g, absolute("blob"))
            .replace(/(\bhref=")([^"]+)/g, absolute("blob")),
    );
  writeFileSync(page, pieces.join(""));
}
