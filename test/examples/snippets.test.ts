import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { checkTypes, execute, path } from "./execute.ts";
import { isFile, isRun, nameOf, ofPages, ofSources } from "./extract.ts";
import { keeps, promised } from "./promise.ts";
import { type Service, startService } from "./service.ts";

const sources = ofSources();
const pages = ofPages();
const snippets = [...sources, ...pages].filter(
  (snippet) => snippet.language === "ts" && !isFile(snippet),
);

/** Where the blocks are written as files, from where "outdial" leads to the built package. */
const folder = path("test/artefacts/snippets");

const node = path("test/node_modules/.bin/node");

let service: Service;

beforeAll(async () => {
  service = await startService();
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const snippet of snippets) writeFileSync(`${folder}/${nameOf(snippet)}`, snippet.code);
  const compilerOptions = {
    isolatedDeclarations: false,
    declaration: false,
    moduleDetection: "force",
    noUnusedLocals: false,
    noUnusedParameters: false,
    // Without the DOM, as in most projects on Node: `json()` of a Request is unknown there, not any.
    lib: ["ES2024", "ESNext.Disposable"],
    types: ["node"],
    typeRoots: [path("node_modules/@types")],
  };
  const tsconfig = { extends: path("tsconfig.json"), compilerOptions, include: ["."], exclude: [] };
  writeFileSync(`${folder}/tsconfig.json`, JSON.stringify(tsconfig));
});

afterAll(() => service.close());

test("there are blocks in the sources and on the pages", () => {
  expect(sources.length).toBeGreaterThan(5);
  expect(pages.length).toBeGreaterThan(0);
});

test("no block of code goes by another name than ts", () => {
  const others = [...sources, ...pages].filter(({ language }) =>
    /^(|js|jsx|tsx|mjs|mts|javascript|typescript)$/i.test(language),
  );
  expect(others.map(({ where }) => where)).toEqual([]);
});

test("a block that is not run says why", () => {
  const wordless = snippets.filter(({ info }) => info !== "" && !/^no-run: \S+ \S+/.test(info));
  expect(wordless.map(({ where, info }) => `${where} ${info}`)).toEqual([]);
});

test("no block has a literal that would pass as a secret", () => {
  const literals = pages.filter(({ code }) => /secret\w* *[:=] *["'`][^"'`]{16}/i.test(code));
  expect(literals.map(({ where }) => where)).toEqual([]);
});

test("every block holds against the types of the built package", async () => {
  const { stdout } = await checkTypes("test/artefacts/snippets", "--pretty", "false");
  expect(stdout).toBe("");
});

describe("every block runs on its own, and prints what its comments say", () => {
  test.concurrent.each(snippets.filter(isRun).map((snippet) => [snippet.where, snippet] as const))(
    "%s",
    async (_, snippet) => {
      const { code, stdout, stderr } = await execute(
        node,
        [`${folder}/${nameOf(snippet)}`],
        service.env,
        { patience: 60_000 },
      );
      expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
      const lines = stdout.split("\n");
      const broken = promised(snippet).filter(
        (promise) => !lines.some((line) => keeps(promise, line)),
      );
      expect(broken, stdout).toEqual([]);
    },
  );
});
