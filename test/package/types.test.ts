import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
// The project's own: beside this file there is an old one, of a tool.
import ts from "../../node_modules/typescript/lib/typescript.js";
import { execute, path, tsc } from "../examples/execute.ts";
import { entries, installConsumer } from "./project.ts";

const project = installConsumer();
let program: ts.Program;

beforeAll(async () => {
  program = programOf(project);
});

/** The consumer's program, by its own strict tsconfig.json. */
const programOf = (folder: string): ts.Program => {
  const { config } = ts.readConfigFile(join(folder, "tsconfig.json"), ts.sys.readFile);
  const { fileNames, options } = ts.parseJsonConfigFileContent(config, ts.sys, folder);
  return ts.createProgram(fileNames, options);
};

const complaintsOf = (program: ts.Program): string[] =>
  ts.getPreEmitDiagnostics(program).map(({ file, start = 0, messageText }) => {
    const text = ts.flattenDiagnosticMessageText(messageText, "\n");
    const line = file && file.getLineAndCharacterOfPosition(start).line + 1;
    return `${file?.fileName}:${line} ${text}`;
  });

test("a strict project that uses all of it compiles, libraries checked, and misuse does not", () => {
  const own = program.getSourceFiles().map(({ fileName }) => fileName);
  expect(own).toContain(join(project, "node_modules/outdial/dist/index.d.ts"));
  expect(own).toContain(join(project, "misuse.ts"));
  expect(complaintsOf(program)).toEqual([]);
});

/** The errors in some files of the project, by the compiler that takes the least time; other files' are not ours. */
const errorsIn = async (
  files: readonly string[],
  compilerOptions: Readonly<Record<string, readonly string[]>> = {},
): Promise<readonly string[]> => {
  const config = join(project, "part.json");
  writeFileSync(
    config,
    JSON.stringify({ extends: "./tsconfig.json", compilerOptions, files, include: [] }),
  );
  const { stdout } = await tsc(["--project", config, "--listFiles"], project);
  rmSync(config);
  expect(stdout.split("\n")).toEqual(
    expect.arrayContaining(files.map((file) => resolve(project, file))),
  );
  const errors = stdout.match(/^.*error TS.*$/gm) ?? [];
  return errors.filter((error) => !error.startsWith("../"));
};

test("every line of misuse is one: without its mark it fails to compile", async () => {
  const source = readFileSync(join(project, "misuse.ts"), "utf8");
  const marks = source.match(/@ts-expect-error/g) ?? [];
  const unmarked = join(project, "unmarked.ts");
  writeFileSync(unmarked, source.replaceAll("@ts-expect-error", "here:"));
  const errors = await errorsIn(["unmarked.ts"]);
  rmSync(unmarked);
  expect(errors.filter((error) => error.startsWith("unmarked.ts("))).toEqual(errors);
  expect(errors).toHaveLength(marks.length);
  expect(marks.length).toBeGreaterThan(10);
});

describe("what a platform declares is enough, libraries checked, without the DOM's declarations", () => {
  test.each([
    ["the DOM", ["ES2022", "DOM"], []],
    ["Node", ["ES2022"], ["node_modules/@types/node/index.d.ts"]],
    ["Bun", ["ES2022"], ["test/node_modules/@types/bun/index.d.ts"]],
    ["Workers", ["ES2022"], ["test/node_modules/@cloudflare/workers-types/index.d.ts"]],
  ])("%s", async (_, lib, types) => {
    const files = ["everywhere.ts", ...types.map(path)];
    expect(await errorsIn(files, { lib, types: [] })).toEqual([]);
  });

  test("Deno", async () => {
    const deno = path("test/node_modules/.bin/deno");
    const args = ["check", "--quiet", "--node-modules-dir=manual", "everywhere.ts"];
    const { code, stderr } = await execute(deno, args, {}, { cwd: project });
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  });
});

const typing = join(project, "typing.ts");
/** What is typed so far, and how often that has changed. */
const typed = { source: "", version: 0 };

/** An editor with one file of the project open. */
const editor = ts.createLanguageService({
  fileExists: ts.sys.fileExists,
  readFile: ts.sys.readFile,
  directoryExists: ts.sys.directoryExists,
  getDirectories: ts.sys.getDirectories,
  getCurrentDirectory: () => project,
  getDefaultLibFileName: ts.getDefaultLibFilePath,
  getCompilationSettings: () => program.getCompilerOptions(),
  writeFile: () => {},
  getScriptFileNames: () => [typing],
  getScriptVersion: (name) => (name === typing ? `${typed.version}` : "1"),
  getScriptSnapshot: (name) => {
    const text = name === typing ? typed.source : ts.sys.readFile(name);
    return text === undefined ? undefined : ts.ScriptSnapshot.fromString(text);
  },
});

/** What an editor offers at `|` in a file of the project. */
const offered = (source: string): readonly string[] => {
  typed.source = source.replace("|", "");
  typed.version++;
  const { entries = [] } = editor.getCompletionsAtPosition(typing, source.indexOf("|"), {}) ?? {};
  return entries.map(({ name }) => name);
};

describe("an editor completes a notification", () => {
  const inHandler = (line: string) =>
    `import { callbackHandler } from "outdial/callbacks";
    callbackHandler({ secret: "", onEvent: ({ event }) => { ${line} } });`;
  const types = ["answered", "completed", "failed", "initiated", "machine_detected", "ringing"];

  test.each([
    'if (event.known) switch (event.type) { case "|": }',
    'switch (event.type) { case "|": }',
    'if (event.type === "|") return;',
  ])("its type: %s", (line) =>
    expect([...offered(inHandler(line))].sort()).toEqual(types.map((type) => `call.${type}`)),
  );

  test.each([
    [
      "call.completed",
      [
        ...["answered_by", "cost", "currency", "duration", "from", "hangup_time", "reason"],
        ...["recording_url", "to"],
      ],
    ],
    ["call.failed", ["cost", "currency", "from", "hangup_time", "reason", "to"]],
    ["call.answered", ["answer_time", "answered_by", "from", "to"]],
    ["call.initiated", ["from", "start_time", "to"]],
    ["call.ringing", ["from", "to"]],
  ])("the data of %s", (type, fields) => {
    const line = `if (event.known && event.type === "${type}") event.data.|`;
    expect([...offered(inHandler(line))].sort()).toEqual(fields);
  });

  test("the reasons of a failure", () => {
    const line = 'if (event.known && event.type === "call.failed") event.data.reason === "|"';
    expect(offered(inHandler(line))).toContain("no_answer");
  });
});

/** What an editor shows for what is at `|` in a file of the project. */
const hover = (source: string): string => {
  typed.source = source.replace("|", "");
  typed.version++;
  const { documentation = [] } = editor.getQuickInfoAtPosition(typing, source.indexOf("|")) ?? {};
  return documentation.map(({ text }) => text).join("");
};

/** What the compiler says about a file of the project. */
const complaints = (source: string): readonly string[] => {
  typed.source = source;
  typed.version++;
  return editor
    .getSemanticDiagnostics(typing)
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, "\n"));
};

describe("an editor shows what an option is", () => {
  test.each([
    ['import { Client } from "outdial"; new Client("key", { base|Url: "https://voice.test" });'],
    [
      'import { Client, type ClientOptions } from "outdial/fetch"; const o: ClientOptions = { base|Url: "https://voice.test" };',
    ],
    [
      'import { calls, type CallParams } from "outdial"; declare const p: CallParams; calls.create(p, { apiKey: "key", base|Url: "https://voice.test" });',
    ],
    [
      'import { end } from "outdial/calls"; end("cs_1", { apiKey: "key", base|Url: "https://voice.test" });',
    ],
    [
      'import { end } from "outdial/calls"; import { twilio } from "outdial/twilio"; end("cs_1", { apiKey: "key", service: twilio({ accountSid: "AC1" }), base|Url: "https://voice.test" });',
    ],
  ])("baseUrl in %s", (source) => expect(hover(source)).toMatch(/https URL.*loopback/s));

  test("the fields of a transfer's target", () => {
    const source =
      'import { transferTo } from "outdial/agents"; transferTo({ billing: { t|o: "+12025550100" } }, { decide: () => {} });';
    expect(hover(source)).toMatch(/E\.164/);
  });
});

test.each([
  ['import { callbackHandler } from "outdial/callbacks"; callbackHandler({ onEvent: () => {} });'],
  [
    'import { receive } from "outdial/callbacks"; declare const r: Request; receive(r, { publicUrl: "https://app.test" });',
  ],
  ['import { signUrl } from "outdial/callbacks"; signUrl("https://app.test/", {});'],
  [
    'import { flowHandler, hangup } from "outdial/flows"; flowHandler({ onAnswer: () => hangup() });',
  ],
  [
    'import { flowHandler, hangup } from "outdial/flows"; flowHandler({ steps: { a: () => hangup() }, onAnswer: () => hangup() });',
  ],
])("a missing secret is named: %s", (source) => {
  expect(complaints(source).join("\n")).toMatch(/\bsecret\b/);
});

describe("the consumer uses the whole public API", () => {
  const { exports }: { exports: Readonly<Record<string, { readonly types: string }>> } = JSON.parse(
    readFileSync(path("package.json"), "utf8"),
  );

  /** What an entry exports, by its name; the same thing in two entries is one symbol. */
  const exportsOf = (entry: string): ReadonlyMap<string, ts.Symbol> => {
    const types = exports[entry.replace("outdial", ".")]?.types ?? "";
    const source = program.getSourceFile(join(project, "node_modules/outdial", types));
    const checker = program.getTypeChecker();
    const module = source && checker.getSymbolAtLocation(source);
    const names = module ? checker.getExportsOfModule(module) : [];
    const own = (symbol: ts.Symbol) =>
      symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
    return new Map(names.map((symbol) => [symbol.name, own(symbol)]));
  };

  const used = new Set<ts.Symbol | undefined>();
  beforeAll(() => {
    for (const file of readdirSync(path("test/package/consumer"))) {
      const source = readFileSync(path(`test/package/consumer/${file}`), "utf8");
      for (const [, names = "", entry = ""] of source.matchAll(
        /import (?:type )?\{([^}]*)\} from "([^"]+)"/g,
      )) {
        const exported = exportsOf(entry);
        for (const name of names.split(",")) {
          used.add(exported.get(name.replace(/\btype\b|\bas\b.*/g, "").trim()));
        }
      }
    }
  });

  test.each(entries)("%s", (entry) => {
    const names = [...exportsOf(entry)];
    expect(names.length).toBeGreaterThan(0);
    expect(names.filter(([, symbol]) => !used.has(symbol)).map(([name]) => name)).toEqual([]);
  });
});
