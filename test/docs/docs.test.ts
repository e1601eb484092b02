import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { execute } from "../examples/execute.ts";
import { serveSite } from "../site/serve.ts";
import { checkComments } from "./reference.ts";
import { anchorOf, entries, entryFiles, pages, path, read } from "./sources.ts";

test("every export has its comment, and every link in one leads somewhere (typedoc)", async () => {
  expect(await checkComments()).toEqual([]);
});

test("npm run campaign says what to install where the tools of the tests are missing", async () => {
  const folder = mkdtempSync(join(tmpdir(), "outdial-docs-"));
  copyFileSync(path("test/node24.js"), join(folder, "node24.js"));
  const { code, stderr } = await execute(process.execPath, [join(folder, "node24.js"), "run.ts"]);
  rmSync(folder, { recursive: true });
  expect(code).toBe(1);
  expect(stderr).toContain('Run "npm ci --prefix test" first.');
  const { scripts } = JSON.parse(read("package.json"));
  expect(scripts.campaign).toContain("node test/node24.js test/campaign/run.ts");
});

test("every field of a public type has its comment, and every type that one names is public (deno doc --lint)", async () => {
  const deno = path("test/node_modules/.bin/deno");
  // Types of packages are documented by those packages' own pages, so none of theirs is looked into.
  const { code, stderr } = await execute(deno, [
    ...["doc", "--quiet", "--no-npm", "--lint"],
    ...entryFiles(),
  ]);
  expect(stderr).toBe("");
  expect(code).toBe(0);
});

test("npm run docs -- --serve shows the built pages below their base, and nothing beside them", async () => {
  const folder = mkdtempSync(join(tmpdir(), "outdial-site-"));
  mkdirSync(join(folder, "assets"));
  writeFileSync(join(folder, "index.html"), "first page");
  writeFileSync(join(folder, "assets/app.js"), "script");
  const root = await serveSite(folder, "/outdial/");
  const get = async (page: string) => {
    const response = await fetch(new URL(page, root));
    return [response.status, response.headers.get("content-type"), await response.text()];
  };
  expect(await get("")).toEqual([200, "text/html; charset=utf-8", "first page"]);
  expect(await get("assets/app.js")).toEqual([200, "text/javascript", "script"]);
  expect((await get("absent.html"))[0]).toBe(404);
  expect((await get("/index.html"))[0]).toBe(404);
  rmSync(folder, { recursive: true });
  expect(read("test/site/build.ts")).toContain("npm run docs -- --serve shows them");
});

/** A file of `src`, and those that it imports at run time, outside of `lib`. */
const importedBy = (file: string, found: Set<string> = new Set()): Set<string> => {
  if (found.has(file) || file.startsWith("lib/")) return found;
  found.add(file);
  const imports = /^(?:import|export) (?!type )[^;]*?from "(\.[^"]+)";/gms;
  for (const [, from = ""] of read(`src/${file}`).matchAll(imports)) {
    importedBy(join(dirname(file), from), found);
  }
  return found;
};

test("CONTRIBUTING names all files on each path, but those of lib", () => {
  const [table = ""] = /^\| path \|.*\n(\|.*\n)+/m.exec(read(".github/CONTRIBUTING.md")) ?? [];
  const named = [...table.matchAll(/\.\.\/src\/([\w/-]+\.ts)\)/g)].map(([, file = ""]) => file);
  expect(named).toContain("calls/create.ts");
  const onPath = new Set(named.flatMap((file) => [...importedBy(file)]));
  expect([...onPath].filter((file) => !named.includes(file))).toEqual([]);
});

/** The links of a page: `[words](address)`, code apart. */
const linksOf = (page: string): string[] => {
  const text = read(page)
    .replaceAll(/^(`{3,}).*?^\1$/gms, "")
    .replaceAll(/`[^`]*`/g, "");
  return [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, address = ""]) => address);
};

/** The anchors of a page's headings. */
const anchorsOf = (page: string): string[] =>
  [...read(page).matchAll(/^#+ (.*)$/gm)].map(([, words = ""]) => anchorOf(words));

describe("a link leads somewhere", () => {
  test.each([...pages(), "docs/llms.txt"])("%s", (page) => {
    const dead = linksOf(page)
      .filter((address) => !/^(https?|mailto):/.test(address))
      .filter((address) => {
        const [file = "", anchor] = address.split("#");
        const target = file ? join(dirname(page), file) : page;
        if (!existsSync(path(target))) return true;
        return anchor !== undefined && !anchorsOf(target).includes(anchor);
      });
    expect(dead).toEqual([]);
  });
});

test("one version of Node is named, but on the page that explains it", () => {
  const examples = readdirSync(path("examples"))
    .map((name) => `examples/${name}/README.md`)
    .filter((file) => existsSync(path(file)));
  const named = [...pages(), "docs/llms.txt", ...examples]
    .filter((page) => page !== "docs/runtimes.md")
    .flatMap((page) => [...read(page).matchAll(/\bNode \d[\d.]*\d( or newer)?/g)])
    .map(([words]) => words);
  expect(new Set(named)).toEqual(new Set(["Node 22.18 or newer"]));
  expect(JSON.parse(read("package.json")).engines.node).toBe(">=22.18");
});

test("the pages of the carriers have the same sections in the same order", () => {
  const [twilio, vonage, telnyx] = ["twilio", "vonage", "telnyx"].map((name) =>
    [...read(`docs/${name}.md`).matchAll(/^## (.*)$/gm)].map(([, words = ""]) =>
      words.replace(/`.*`/, "its SDK"),
    ),
  );
  expect(twilio).toContain("Not known without a live account");
  expect(vonage).toEqual(twilio);
  expect(telnyx).toEqual(twilio);
});

// JSR shows it in place of README.
test.each(Object.entries(entries()))(
  "the entry %s says what it is for, and where to read on",
  (_, file) => {
    const [comment = ""] = /^\/\*\*.*?\*\//s.exec(read(file)) ?? [];
    const [about = ""] = comment.split("\n * @");
    expect(about.length, about).toBeGreaterThan(200);
    expect(comment).toContain("@module");
    expect(comment).toMatch(/@see docs\/[\w-]+\.md/);
  },
);

test("README leads to every page, and llms.txt names each of them and each entry", () => {
  const readme = linksOf("README.md");
  const llms = linksOf("docs/llms.txt");
  const inDocs = pages().filter((page) => page.startsWith("docs/"));
  expect(inDocs.filter((page) => !readme.includes(page))).toEqual([]);
  expect(inDocs.filter((page) => !llms.includes(page.slice("docs/".length)))).toEqual([]);
  const text = read("docs/llms.txt");
  const names = Object.keys(entries()).map((entry) => entry.replace(".", "outdial"));
  expect(names.filter((name) => !text.includes(`- \`${name}\`:`))).toEqual([]);
});

describe("commands that are named exist", () => {
  const { scripts }: { scripts: Readonly<Record<string, string>> } = JSON.parse(
    read("package.json"),
  );
  const workflows = readdirSync(path(".github/workflows")).map(
    (name) => `.github/workflows/${name}`,
  );
  const forContributors = ["README.md", "AGENTS.md", "test/README.md"];
  const inGitHub = [".github/CONTRIBUTING.md", ".github/AGENTS.md"];

  test.each([...workflows, ...forContributors, ...inGitHub])("in %s", (page) => {
    const text = read(page);
    const named = [
      ...text.matchAll(/\bnpm run ([a-z][\w:-]*)/g),
      // What `npm run ${{ matrix.command }}` runs.
      ...(/^ +command:\n((?: +- .+\n)+)/m.exec(text)?.[1] ?? "").matchAll(/^ +- ([a-z][\w:-]*)/gm),
    ];
    expect(named.map(([, name = ""]) => name).filter((name) => !(name in scripts))).toEqual([]);
    if (page.endsWith("ci.yml")) expect(named.length).toBeGreaterThan(20);
  });

  test("the file of each script is there, and each lockfile that CI keeps a cache by", () => {
    const files = Object.values(scripts)
      .flatMap((script) => script.split(" "))
      .map((word) => word.replace(/^--\w+=/, ""))
      .filter((word) => word.includes("/"))
      // A demo is named as `examples/run.js` takes it.
      .map((file) => (file.startsWith("demo-") ? `examples/${file}` : file));
    const lockfiles = workflows.flatMap(
      (workflow) => read(workflow).match(/\S*package-lock\.json/g) ?? [],
    );
    expect([...files, ...lockfiles].filter((file) => !existsSync(path(file)))).toEqual([]);
    expect(files.length).toBeGreaterThan(15);
  });
});
