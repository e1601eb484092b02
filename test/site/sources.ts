import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, statSync } from "node:fs";
import { posix } from "node:path";
import { fileURLToPath } from "node:url";

/** The path of a file of the repository. */
export const path = (relative: string): string =>
  fileURLToPath(new URL(`../../${relative}`, import.meta.url));

/** The folders of the site: its pages in Markdown, and what is published. */
export const pagesFolder = path("test/site/pages");
export const builtFolder = path("test/site/built");

/** The path under which the site is served: `/outdial/` on GitHub's Pages. */
export const base = `/${process.env.SITE_BASE ?? ""}/`.replaceAll(/\/+/g, "/");

const {
  GITHUB_SERVER_URL: server,
  GITHUB_REPOSITORY: name,
  GITHUB_SHA: commit,
  GITHUB_REF_NAME: ref = "",
} = process.env;

/** The repository in which the workflow runs, as .github/name-the-repository.js has it; unknown on your own machine. */
export const repository =
  server && name && commit ? { url: `${server}/${name}`, commit } : undefined;

/** The release of which this is the site, such as `v0.1.0`: the tag that the workflow runs on. */
export const release = repository && /^v\d/.test(ref) ? ref : undefined;

/** Every file that git knows, and those that it would add. */
const files = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard"], {
  cwd: path("."),
  encoding: "utf8",
})
  .split("\n")
  .filter((file) => file && existsSync(path(file)));

const pageOf = (file: string): string => {
  // `agents.md` is the page of docs/agents.md.
  if (file === "AGENTS.md") return "coding-assistants.md";
  const page = file.replace(/^docs\//, "").replace(/^\.github\//, "");
  return page.replace(/README\.md$/, "index.md").toLowerCase();
};

/** The Markdown that becomes a page, and the page's path: `docs/agents.md` is `agents.md`. */
export const pages: ReadonlyMap<string, string> = new Map(
  files
    .filter((file) => /^(docs|examples|test)\/.*\.md$|^[^/]+\.md$|CONTRIBUTING\.md$/.test(file))
    .map((file) => [file, pageOf(file)]),
);
for (const [page, sources] of Map.groupBy(pages.keys(), pageOf)) {
  if (sources.length > 1) throw new Error(`${sources.join(" and ")} would both be ${page}`);
}

/** The examples, each of which becomes a page that shows it. */
export const programs: ReadonlyMap<string, string> = new Map(
  files
    .filter((file) => /^examples\/.*\.(ts|js|py|sh|toml|html)$/.test(file))
    .map((file) => [file, `${file.replace(".", "-")}.md`]),
);

/** What the site serves unchanged: pictures, and what machines read. */
export const assets: readonly string[] = files.filter((file) =>
  /^(docs|examples|test\/bench)\/.*\.(png|svg|json|txt)$/.test(file),
);

/** Where the site serves such a file. */
export const assetPath = (file: string): string => file.replace(/^docs\//, "");

const relative = (from: string, to: string): string => {
  const way = posix.relative(posix.dirname(from), to);
  return way.startsWith(".") ? way : `./${way}`;
};

/** Who reads a link: VitePress, which puts `base` before what begins with `/`; or a reader of the Markdown. */
export type Reader = "VitePress" | "Markdown";

/** The address of a link on a page, or undefined if the site has nothing there. */
export const addressOf = (file: string, link: string, reader: Reader): string | undefined => {
  if (/^([a-z]+:|#)/.test(link)) return link;
  const [target = "", anchor] = link.split("#");
  const to = posix.join(posix.dirname(file), target).replace(/\/$/, "");
  const hash = anchor ? `#${anchor}` : "";
  const page = pages.get(to) ?? programs.get(to) ?? pages.get(`${to}/README.md`);
  const from = pages.get(file) ?? "";
  if (page) return relative(from, page) + hash;
  if (assets.includes(to)) {
    return reader === "VitePress" ? `/${assetPath(to)}` : relative(from, assetPath(to));
  }
  if (!existsSync(path(to))) throw new Error(`${file} links to ${link}, which does not exist`);
  const kind = statSync(path(to)).isDirectory() ? "tree" : "blob";
  return repository && `${repository.url}/${kind}/${repository.commit}/${to}${hash}`;
};

export const read = (file: string): string => readFileSync(path(file), "utf8");
