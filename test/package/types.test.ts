import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
// The project's own: beside this file there is an old one, of a tool.
import ts from "../../node_modules/typescript/lib/typescript.js";
import { path } from "../examples/execute.ts";
import { cleanUp, entries, install, pack } from "./project.ts";

let project: string;
let program: ts.Program;

beforeAll(async () => {
  project = await install(await pack());
  program = programOf(project);
});

afterAll(cleanUp);

/** The consumer's program, by its own strict tsconfig.json. */
const programOf = (folder: string): ts.Program => {
  const { config } = ts.readConfigFile(join(folder, "tsconfig.json"), ts.sys.readFile);
  const { fileNames, options } = ts.parseJsonConfigFileContent(config, ts.sys, folder);
  return ts.createProgram(fileNames, options);
};

const complaintsOf = (program: ts.Program, only?: ts.SourceFile): string[] =>
  ts.getPreEmitDiagnostics(program, only).map(({ file, start = 0, messageText }) => {
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

test("every line of misuse is one: without its mark it fails to compile", () => {
  const misuse = join(project, "misuse.ts");
  const source = readFileSync(misuse, "utf8");
  const marks = source.match(/@ts-expect-error/g) ?? [];
  writeFileSync(misuse, source.replaceAll("@ts-expect-error", "here:"));
  try {
    const unmarked = programOf(project);
    expect(complaintsOf(unmarked, unmarked.getSourceFile(misuse))).toHaveLength(marks.length);
    expect(marks.length).toBeGreaterThan(10);
  } finally {
    writeFileSync(misuse, source);
  }
});

describe("the consumer uses the whole public API", () => {
  const used = new Set<string>();
  for (const file of readdirSync(path("test/package/consumer"))) {
    const source = readFileSync(path(`test/package/consumer/${file}`), "utf8");
    for (const [, names = "", entry] of source.matchAll(/import \{([^}]*)\} from "([^"]+)"/g)) {
      for (const name of names.split(",")) {
        used.add(`${entry} ${name.replace(/\btype\b|\bas\b.*/g, "").trim()}`);
      }
    }
  }

  test.each(entries)("%s", (entry) => {
    const types = entry.replace("outdial", "dist").concat("/index.d.ts");
    const source = program.getSourceFile(join(project, "node_modules/outdial", types));
    const symbol = source && program.getTypeChecker().getSymbolAtLocation(source);
    const names = symbol ? program.getTypeChecker().getExportsOfModule(symbol) : [];
    expect(names.length).toBeGreaterThan(0);
    expect(
      names.filter(({ name }) => !used.has(`${entry} ${name}`)).map(({ name }) => name),
    ).toEqual([]);
  });
});
