import {
  chmodSync,
  cpSync,
  globSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname } from "node:path";
import type { FileCoverageData } from "istanbul-lib-coverage";
import { createInstrumenter } from "istanbul-lib-instrument";

/** What the jobs and the build need, beside `src` and the packages. */
const taken = [
  "package.json",
  "tsconfig.json",
  "tsup.config.ts",
  ...["conformance", "runtimes", "peer", "jobs", "unit", "cli", "dashboard", "agents"].map(
    (folder) => `test/${folder}`,
  ),
  // What those import.
  ...["bench", "chaos", "coverage", "examples"].map((folder) => `test/${folder}`),
  ...["own-agent", "bridge", "demo-agent"].map((folder) => `examples/${folder}`),
  "test/jobs.ts",
  "test/package.json",
  "test/section.ts",
  "test/temporary.ts",
  "test/tsconfig.json",
  "test/vitest.config.ts",
];

/** Workers and pages allow no `new Function`, by which Istanbul looks for the global object. */
const instrumenter = createInstrumenter({
  esModules: true,
  parserPlugins: ["typescript"],
  coverageGlobalScope: "globalThis",
  coverageGlobalScopeFunc: false,
  compact: false,
  preserveComments: true,
});

/** Writes a file of `src` with a counter at each statement and branch, and gives its empty counts. */
const instrument = (file: string, tree: string, atStart: string): FileCoverageData => {
  const code = instrumenter.instrumentSync(readFileSync(file, "utf8"), file);
  mkdirSync(dirname(`${tree}/${file}`), { recursive: true });
  writeFileSync(`${tree}/${file}`, code.replace(/^(#!.*\n)?/, `$1${atStart}`));
  return structuredClone(instrumenter.lastFileCoverage());
};

/** The packages by links, but `outdial` itself, and a Deno that may write the counts. */
const linkPackages = (tree: string, counts: string): void => {
  const real = `${process.cwd()}/test/node_modules`;
  const here = `${tree}/test/node_modules`;
  symlinkSync(`${process.cwd()}/node_modules`, `${tree}/node_modules`);
  mkdirSync(`${here}/.bin`, { recursive: true });
  for (const folder of ["", ".bin/"]) {
    for (const name of readdirSync(`${real}/${folder}`)) {
      if (![".bin", "outdial", ".bin/deno"].includes(folder + name)) {
        symlinkSync(`${real}/${folder}${name}`, `${here}/${folder}${name}`);
      }
    }
  }
  symlinkSync("../..", `${here}/outdial`);
  // Deno takes no folder beside a leave for all of them.
  const deno = `#!/bin/sh
word=$1
shift
case " $* " in
  *" -A "* | *" --allow-write "*) ;;
  *) set -- "--allow-write=${counts}" "$@" ;;
esac
exec "${real}/.bin/deno" "$word" "$@"
`;
  writeFileSync(`${here}/.bin/deno`, deno);
  chmodSync(`${here}/.bin/deno`, 0o755);
};

/**
 * Makes a copy of the project whose `src` counts what runs, for every runtime alike, and gives the
 * empty counts of every file.
 *
 * @param tree - where the copy is made, absolute
 * @param counts - the folder in which its processes leave their counts, absolute
 */
export const makeCopy = (tree: string, counts: string): Record<string, FileCoverageData> => {
  for (const folder of [tree, counts]) {
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
  }
  const filter = (path: string) => !/\/(node_modules|built)$/.test(path);
  for (const path of taken) cpSync(path, `${tree}/${path}`, { recursive: true, filter });
  linkPackages(tree, counts);
  const keep = `import { keepAtExit } from "../../test/coverage/at-exit.ts";\nkeepAtExit(${JSON.stringify(counts)});\n`;
  const files = globSync("src/**/*.ts").sort();
  return Object.fromEntries(
    files.map((file) => [file, instrument(file, tree, file === "src/cli/main.ts" ? keep : "")]),
  );
};
