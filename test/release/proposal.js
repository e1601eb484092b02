// What release-please would propose for a folder, by its own code, without GitHub: version.yml runs the same version of it.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** The parts of release-please's client of GitHub that a proposal needs, answered from a folder. */
const gitHubOf = (folder, { commits, release }) => {
  const contents = (file) => {
    const parsedContent = readFileSync(join(folder, file), "utf8");
    return { parsedContent, content: parsedContent, sha: "0", mode: "100644" };
  };
  return {
    repository: { owner: "someone", repo: "outdial", defaultBranch: "main" },
    getFileContentsOnBranch: async (file) => contents(file),
    getFileJson: async (file) => JSON.parse(contents(file).parsedContent),
    async *releaseIterator() {
      if (release) yield { id: 1, url: "", notes: "", name: release, tagName: release, sha: "r" };
    },
    async *tagIterator() {
      if (release) yield { name: release, sha: "r" };
    },
    async *mergeCommitIterator() {
      for (const [at, message] of commits.entries()) yield { sha: `${at}`, message, files: ["a"] };
      if (release) yield { sha: "r", message: `chore(main): release ${release}`, files: ["a"] };
    },
  };
};

const quiet = Object.fromEntries(
  ["error", "warn", "info", "debug", "trace"].map((level) => [level, () => {}]),
);

/**
 * The version and the files of the pull request that release-please would open.
 *
 * @param releasePlease - the package
 * @param history - the commits since the last release, newest first, and that release's tag if there is one
 */
export const propose = async (releasePlease, folder, history) => {
  const { Manifest, setLogger } = releasePlease;
  setLogger(quiet);
  const manifest = await Manifest.fromManifest(
    gitHubOf(folder, history),
    "main",
    ".github/release-please.json",
    ".github/release-please-manifest.json",
  );
  const [proposal] = await manifest.buildPullRequests();
  if (!proposal) return { version: undefined, files: {} };
  const files = {};
  for (const { path, updater } of proposal.updates) {
    const file = join(folder, path);
    if (existsSync(file)) files[path] = updater.updateContent(readFileSync(file, "utf8"), quiet);
  }
  return { version: proposal.version.toString(), files };
};

/** Merges a proposal. */
export const merge = (folder, { files }) => {
  for (const [path, text] of Object.entries(files)) writeFileSync(join(folder, path), text);
};
