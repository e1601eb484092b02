import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { execute, path } from "./execute.ts";
import { ofMarkdown, ofSources, type Snippet } from "./extract.ts";
import { type Service, startService } from "./service.ts";

const sources = ofSources();
const readme = ofMarkdown("README.md");
const snippets = [...sources, ...readme].filter(({ language }) => language === "ts");

/** Its line is `ts no-run: <why it can't run here>`; it is type-checked all the same. */
const isRun = ({ info }: Snippet): boolean => !info.startsWith("no-run");

/** Where the blocks are written as files, from where "outdial" leads to the built package. */
const folder = path("test/artefacts/snippets");
const nameOf = ({ where }: Snippet): string => `${where.replaceAll(/\W+/g, "-")}.ts`;

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
    types: ["node"],
    typeRoots: [path("node_modules/@types")],
  };
  const tsconfig = { extends: path("tsconfig.json"), compilerOptions, include: ["."], exclude: [] };
  writeFileSync(`${folder}/tsconfig.json`, JSON.stringify(tsconfig));
});

afterAll(() => service.close());

test("there are blocks in the sources and in the README", () => {
  expect(sources.length).toBeGreaterThan(5);
  expect(readme.length).toBeGreaterThan(0);
});

test("no block of code goes by another name than ts", () => {
  const others = [...sources, ...readme].filter(({ language }) =>
    /^(|js|jsx|tsx|mjs|mts|javascript|typescript)$/i.test(language),
  );
  expect(others.map(({ where }) => where)).toEqual([]);
});

test("a block that is not run says why", () => {
  const wordless = snippets.filter(({ info }) => info !== "" && !/^no-run: \S+ \S+/.test(info));
  expect(wordless.map(({ where, info }) => `${where} ${info}`)).toEqual([]);
});

test("every block holds against the types of the built package", async () => {
  const tsc = path("node_modules/typescript/bin/tsc");
  const { stdout } = await execute(
    node,
    [tsc, "--project", folder, "--pretty", "false"],
    {},
    { cwd: folder },
  );
  expect(stdout).toBe("");
});

/** What a block says that it prints: `console.log(…); // this`. */
const promised = ({ code }: Snippet): string[] =>
  [...code.matchAll(/console\.log\(.*\); \/\/ (.+)$/gm)].map(([, text = ""]) => text);

const unquoted = (text: string): string => text.replaceAll(/["']/g, "");

/** Whether a line is what was promised: `…` leaves the rest open, and a colon begins a remark. */
const keeps = (promise: string, line: string): boolean => {
  const [start = "", ...open] = unquoted(promise).split("…");
  const said = unquoted(line);
  return open.length > 0 ? said.startsWith(start) : start === said || start.startsWith(`${said}: `);
};

describe("every block runs on its own, and prints what its comments say", () => {
  test.concurrent.each(snippets.filter(isRun).map((snippet) => [snippet.where, snippet] as const))(
    "%s",
    async (_, snippet) => {
      const { code, stdout, stderr } = await execute(
        node,
        [`${folder}/${nameOf(snippet)}`],
        service.env,
        { patience: 10_000 },
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
