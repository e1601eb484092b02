import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { describe, expect, test } from "vitest";
import { execute, path } from "../examples/execute.ts";
import { installed, packed } from "./project.ts";

const bin = (name: string): string => path(`test/node_modules/.bin/${name}`);

/** Everything in the tarball; `*` is the hash in the name of a file that others share. */
const contents = [
  "AGENTS.md",
  "CHANGELOG.md",
  "LICENSE",
  "README.md",
  "dist/*.d.ts",
  "dist/agents/index.d.ts",
  "dist/agents/index.js",
  "dist/block-*.js",
  "dist/call-*.js",
  "dist/callbacks/index.d.ts",
  "dist/callbacks/index.js",
  "dist/calls/index.d.ts",
  "dist/calls/index.js",
  "dist/campaigns/index.d.ts",
  "dist/campaigns/index.js",
  "dist/campaigns/workers/index.d.ts",
  "dist/campaigns/workers/index.js",
  "dist/check-*.js",
  "dist/chunk-*.js",
  "dist/cli/main.d.ts",
  "dist/cli/main.js",
  "dist/command-*.js",
  "dist/completion-*.js",
  "dist/dial-*.js",
  "dist/dist-*.js",
  "dist/emulator-*.js",
  "dist/emulator/index.d.ts",
  "dist/emulator/index.js",
  "dist/end-*.js",
  "dist/erase-*.js",
  "dist/exchange-*.js",
  "dist/fetch.d.ts",
  "dist/fetch.js",
  "dist/flows/index.d.ts",
  "dist/flows/index.js",
  "dist/get-*.js",
  "dist/index.d.ts",
  "dist/index.js",
  "dist/init-*.js",
  "dist/min-*.js",
  "dist/page-*.js",
  "dist/questions-*.js",
  "dist/recording-*.js",
  "dist/report-*.js",
  "dist/results-*.js",
  "dist/serve-*.js",
  "dist/service-*.js",
  "dist/start-*.js",
  "dist/stop-*.js",
  "dist/store-*.js",
  "dist/telnyx/index.d.ts",
  "dist/telnyx/index.js",
  "dist/testing/index.d.ts",
  "dist/testing/index.js",
  "dist/trigger-*.js",
  "dist/twilio/index.d.ts",
  "dist/twilio/index.js",
  "dist/unblock-*.js",
  "dist/vonage/index.d.ts",
  "dist/vonage/index.js",
  "dist/why-*.js",
  "docs/*.md",
  "docs/asyncapi.json",
  "docs/llms.txt",
  "docs/openapi.json",
  "package.json",
];

const { tarball, files, project } = packed();
const manifest = (name: string) =>
  JSON.parse(readFileSync(join(project, "node_modules", name, "package.json"), "utf8"));

test("the tarball holds these files, and nothing else", () => {
  // What entries share is named by the tool that builds, after one of its parts.
  const named = files.map((file) =>
    file
      .replace(/^dist\/[a-z-]+-[\w-]{8}\.d\.ts$/, "dist/*.d.ts")
      .replace(/^docs\/[a-z-]+\.md$/, "docs/*.md")
      .replace(/^(dist\/[a-z]+)-[\w-]{8}\./, "$1-*."),
  );
  expect([...new Set(named)]).toEqual(contents);
});

test("it depends on ky and valibot, and that is all that an install brings", () => {
  expect(Object.keys(manifest("outdial").dependencies)).toEqual(["ky", "valibot"]);
  expect(manifest("outdial")).not.toHaveProperty("peerDependencies");
  expect(manifest("outdial")).not.toHaveProperty("optionalDependencies");
  expect(installed(project)).toEqual(["ky", "outdial", "valibot"]);
});

test("every page that a comment, a guide or AGENTS.md leads to is in it", () => {
  const root = join(project, "node_modules/outdial");
  const textOf = (file: string): string => readFileSync(join(root, file), "utf8");
  const seen = files
    .filter((file) => file.endsWith(".d.ts"))
    .flatMap((file) => [...textOf(file).matchAll(/@see (docs\/[\w./-]+\w)/g)])
    .map(([, page]) => page ?? "");
  const linked = files
    .filter((file) => /^(AGENTS\.md|docs\/.*\.(md|txt))$/.test(file))
    .flatMap((file) =>
      [...textOf(file).matchAll(/\]\((?![a-z]+:|#)([^)#]+)/g)].map(([, page = ""]) =>
        join(dirname(file), page),
      ),
    )
    // A release leads to these in the repository (`release.test.ts`).
    .filter((page) => !/^(examples|test)\//.test(page));
  expect(seen.length).toBeGreaterThan(20);
  expect(linked.length).toBeGreaterThan(20);
  expect([...new Set([...seen, ...linked])].filter((page) => !files.includes(page))).toEqual([]);
});

test("nothing runs when it is installed", () => {
  const { packages } = JSON.parse(readFileSync(join(project, "package-lock.json"), "utf8"));
  expect(Object.keys(packages)).toContain("node_modules/outdial");
  // npm's own judgement, scripts and native sources alike.
  const active = Object.keys(packages).filter((name) => packages[name].hasInstallScript);
  expect(active).toEqual([]);
});

describe("what an entry loads", () => {
  /** The files of the package that a file imports, itself first. */
  const loaded = (file: string, seen = new Set<string>()): Set<string> => {
    if (seen.has(file)) return seen;
    seen.add(file);
    const source = readFileSync(file, "utf8");
    for (const [, other = ""] of source.matchAll(/(?:from|import)\s*\(?\s*"(\.[^"]+\.js)"/g)) {
      loaded(join(dirname(file), other), seen);
    }
    return seen;
  };

  test("knows no Node module and no process", () => {
    const root = join(project, "node_modules/outdial");
    const modules = Object.values<{ default: string }>(manifest("outdial").exports).flatMap(
      (entry) => [...loaded(join(root, entry.default))],
    );
    // `wav` and `report` of outdial/testing take files, where the runtime has them.
    const allowed = join(root, "dist/testing/index.js");
    const guilty = modules.filter(
      (file) =>
        file !== allowed &&
        /["']node:|\bprocess\.|\bBuffer\b|\brequire\(/.test(readFileSync(file, "utf8")),
    );
    expect(modules.length).toBeGreaterThan(5);
    expect(guilty.map((file) => relative(root, file))).toEqual([]);
  });

  test("is all that there is, but for the command's own files", () => {
    const root = join(project, "node_modules/outdial");
    const { exports, bin } = manifest("outdial");
    const starts = [
      ...Object.values<{ default: string }>(exports).map((entry) => entry.default),
      bin.outdial,
    ];
    const modules = starts.flatMap((start) => [...loaded(join(root, start))]);
    const idle = files
      .filter((file) => file.endsWith(".js"))
      .filter((file) => !modules.includes(join(root, file)));
    expect(idle).toEqual([]);
  });
});

test("whose code is bundled is named in the licence", () => {
  const root = join(project, "node_modules/outdial");
  const sources = files
    .filter((file) => file.endsWith(".js"))
    .map((file) => readFileSync(join(root, file), "utf8"));
  // The bundler writes above each module where it comes from.
  const origin = /^\/\/ .*node_modules\/((?:@[^/]+\/)?[^/]+)/gm;
  const bundled = sources.flatMap((source) => [...source.matchAll(origin)].map(([, name]) => name));
  expect([...new Set(bundled)].sort()).toEqual([
    "@clack/core",
    "@clack/prompts",
    "@hono/node-server",
    "@noble/hashes",
    "fast-string-truncated-width",
    "fast-string-width",
    "fast-wrap-ansi",
    "hono",
    "libphonenumber-js",
    "saxes",
    "sisteransi",
    "xmlchars",
  ]);
  const licence = readFileSync(join(root, "LICENSE"), "utf8");
  for (const name of bundled) {
    const folder = path(`node_modules/${name}`);
    // saxes has no file for it.
    const file = readdirSync(folder).find((each) => /^licen[cs]e/i.test(each)) ?? "package.json";
    const theirs = readFileSync(join(folder, file), "utf8");
    const holders = [...theirs.matchAll(/^(?:MIT License )?(Copyright .+)$/gm)].map(
      ([, one]) => one,
    );
    if (holders.length === 0) holders.push(JSON.parse(theirs).author);
    for (const holder of holders) expect(licence).toContain(holder);
  }
});

test("publint has nothing to say", async () => {
  const { code, stdout } = await execute(bin("publint"), ["--strict", tarball]);
  expect(code, stdout).toBe(0);
  expect(stdout).toContain("All good!");
});

test("the types resolve for everyone who can import the package (attw)", async () => {
  const { code, stdout } = await execute(bin("attw"), [
    tarball,
    "--profile=esm-only",
    "--format=table-flipped",
  ]);
  expect(code, stdout).toBe(0);
});

test("a demo leaves what `npm pack` ships as it is, with all types, and `npm pack` builds first", async () => {
  const demo = await execute("npm", ["run", "demo", "--silent"]);
  expect(demo.code, demo.stdout + demo.stderr).toBe(0);
  // Without `prepack`: other tests read `dist`.
  const { stdout } = await execute("npm", ["pack", "--dry-run", "--json", "--ignore-scripts"]);
  const [{ files: shipped }]: [{ files: { path: string }[] }] = JSON.parse(stdout);
  const { exports, scripts } = JSON.parse(readFileSync(path("package.json"), "utf8"));
  const types = Object.values<{ types: string }>(exports).map((entry) => entry.types.slice(2));
  expect(shipped.map((file) => file.path)).toEqual(expect.arrayContaining(types));
  expect(scripts.prepack).toBe(`${scripts.build} --silent`);
  expect(JSON.stringify(scripts)).not.toContain("--no-dts");
});
