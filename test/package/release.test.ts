import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { execute, path } from "../examples/execute.ts";

const workflow = readFileSync(path(".github/workflows/release.yml"), "utf8");
/** The commands of the job that releases to npm, in their order. */
const commands = [
  ...(/^ {2}npm:\n(.*\n)+?\n/m.exec(workflow)?.[0] ?? "").matchAll(/run: (.+)$/gm),
].map(([, command = ""]) => command);
const step = commands.find((command) => command.includes(".github/")) ?? "no such step";

const repository = "https://github.test/someone/outdial";
const surroundings = {
  GITHUB_SERVER_URL: "https://github.test",
  GITHUB_REPOSITORY: "someone/outdial",
  GITHUB_REF_NAME: "v0.1.0",
  PATH: `${path("test/node_modules/node/bin")}:/usr/bin:/bin`,
};

const copy = mkdtempSync(join(tmpdir(), "outdial-release-"));
const read = (file: string) => readFileSync(join(copy, file), "utf8");
const code = `
\`\`\`md
[a link](in/code.md)
\`\`\`
<a href="docs/a.md"><img src="docs/a.png"></a> [![both](docs/b.png)](docs/b.md#c)
`;

beforeAll(async () => {
  for (const file of [
    "package.json",
    "README.md",
    "AGENTS.md",
    "CHANGELOG.md",
    "docs",
    ".github",
  ]) {
    cpSync(path(file), join(copy, file), { recursive: true });
  }
  writeFileSync(join(copy, "README.md"), code, { flag: "a" });
  const ran = await execute("bash", ["-c", step], surroundings, { cwd: copy });
  expect(ran.code, ran.stderr).toBe(0);
});

afterAll(() => rmSync(copy, { recursive: true }));

const linksIn = (markdown: string): string[] =>
  [
    ...markdown.replace(/^```[\s\S]*?^```/gm, "").matchAll(/\]\(([^)]+)\)|(?:src|href)="([^"]+)"/g),
  ].map(([, one, other]) => one ?? other ?? "");

describe("before a release to npm is packed", () => {
  test("the step comes after the install and the build, and before what publishes", () => {
    expect(commands.at(-2)).toBe(step);
    expect(commands.at(-1)).toMatch(/^npm publish --provenance/);
  });

  test("the package names the repository that it is released from", () => {
    const before = JSON.parse(readFileSync(path("package.json"), "utf8"));
    expect(JSON.parse(read("package.json"))).toEqual({
      ...before,
      repository: { type: "git", url: `git+${repository}.git` },
      homepage: `${repository}#readme`,
      bugs: { url: `${repository}/issues` },
    });
  });

  test("every link of the README leads to the files of that tag, and every image shows there", () => {
    for (const link of linksIn(read("README.md"))) expect(link).toMatch(/^(https?:|#)/);
    expect(read("README.md")).toContain(`](${repository}/blob/v0.1.0/CHANGELOG.md)`);
    expect(read("README.md")).toMatch(
      /!\[[^\]]+\]\(https:\/\/github\.test\/someone\/outdial\/raw\/v0\.1\.0\/.+\.png\)/,
    );
    expect(read("README.md")).toContain(
      `<a href="${repository}/blob/v0.1.0/docs/a.md"><img src="${repository}/raw/v0.1.0/docs/a.png"></a> ` +
        `[![both](${repository}/raw/v0.1.0/docs/b.png)](${repository}/blob/v0.1.0/docs/b.md#c)`,
    );
  });

  test("code in the README stays as it is, but for the address to clone", () => {
    expect(read("README.md")).toContain("[a link](in/code.md)");
    expect(read("README.md")).toContain(`git clone ${repository} outdial\n`);
  });

  const markdown = [
    "AGENTS.md",
    "CHANGELOG.md",
    ...readdirSync(path("docs"))
      .filter((file) => /\.(md|txt)$/.test(file))
      .map((file) => `docs/${file}`),
  ];

  test.each(markdown)(
    "%s leads to files of the package, and to that tag for all others",
    (page) => {
      const links = linksIn(read(page)).filter((link) => !/^(https?:|#)/.test(link));
      const outside = links
        .map((link) => join(dirname(page), link.replace(/#.*/, "")))
        .filter(
          (file) => !/^(docs\/)?[\w-]+\.(md|txt|json)$/.test(file) || !existsSync(path(file)),
        );
      expect(outside).toEqual([]);
      const tagged = linksIn(read(page)).filter((link) => link.startsWith(repository));
      for (const link of tagged) {
        const [, file = ""] =
          /^\/(?:blob|tree)\/v0\.1\.0\/([^#]+)/.exec(link.slice(repository.length)) ?? [];
        expect(existsSync(path(file)), link).toBe(true);
      }
    },
  );
});

test("outside of a workflow the step does nothing but fail", async () => {
  const { PATH } = surroundings;
  const before = read("package.json");
  expect((await execute("bash", ["-c", step], { PATH }, { cwd: copy })).code).not.toBe(0);
  expect(read("package.json")).toBe(before);
});

test("nothing is released while the README says that nothing is", async () => {
  const guard = commands.find((command) => command.includes("not published")) ?? "";
  const { code } = await execute("bash", ["-ec", guard.slice(1, -1)], surroundings, { cwd: copy });
  expect(code).toBe(/not published on npm/.test(read("README.md")) ? 1 : 0);
  writeFileSync(join(copy, "README.md"), "npm install outdial\n");
  const after = await execute("bash", ["-ec", guard.slice(1, -1)], surroundings, { cwd: copy });
  expect(after.code).toBe(0);
});

test("every file that the README links to is there", () => {
  const files = linksIn(readFileSync(path("README.md"), "utf8")).filter(
    (link) => !/^(https?:|#)/.test(link),
  );
  expect(files.length).toBeGreaterThan(5);
  expect(files.filter((file) => !existsSync(path(file.replace(/#.*/, ""))))).toEqual([]);
});

test("every action is pinned by the hash of a commit, its version beside it", () => {
  const uses = readdirSync(path(".github/workflows")).flatMap((name) => [
    ...readFileSync(path(`.github/workflows/${name}`), "utf8").matchAll(/uses: (?!\.\/)(.+)$/gm),
  ]);
  expect(uses.length).toBeGreaterThan(4);
  for (const [, action] of uses) expect(action).toMatch(/^[\w-]+\/[\w-]+@[0-9a-f]{40} # v[\d.]+$/);
});
