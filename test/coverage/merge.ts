import { globSync, readFileSync } from "node:fs";
import { basename } from "node:path";
import istanbul, { type CoverageMap, type FileCoverageData } from "istanbul-lib-coverage";
import type { Counts } from "./counts.ts";

type Files = Readonly<Record<string, Counts>>;

/** Who counted, and what: the runs of one contributor are one. */
export type Contributions = ReadonlyMap<string, readonly Files[]>;

/** All that the processes of the copy have left: in files of their own, and in the jobs' logs. */
export const contributionsIn = (tree: string, counts: string): Contributions => {
  const found = new Map<string, Files[]>();
  const add = (who: string, files: Files) => found.set(who, [...(found.get(who) ?? []), files]);
  for (const log of globSync(`${tree}/test/artefacts/conformance-*.log`).sort()) {
    const line = /^COUNTS (.*)$/m.exec(readFileSync(log, "utf8"))?.[1];
    if (!line) throw new Error(`${log} has no counts`);
    add(basename(log, ".log").replace("-", " "), JSON.parse(line));
  }
  for (const file of globSync(`${counts}/*.json`).sort()) {
    // "unit <uuid>.json", "command bun <uuid>.json"
    add(basename(file).replace(/ \S+$/, ""), JSON.parse(readFileSync(file, "utf8")));
  }
  return found;
};

/** The counts of some runs, added to the empty ones of every file. */
export const merge = (
  empty: Readonly<Record<string, FileCoverageData>>,
  runs: readonly Files[],
): CoverageMap => {
  const sum = structuredClone(empty);
  for (const run of runs) {
    for (const [name, { s, f, b }] of Object.entries(run)) {
      const file = sum[name];
      if (!file) throw new Error(`${name} is no file of src`);
      for (const [at, count] of Object.entries(s)) file.s[at] = (file.s[at] ?? 0) + count;
      for (const [at, count] of Object.entries(f)) file.f[at] = (file.f[at] ?? 0) + count;
      for (const [at, paths] of Object.entries(b)) {
        file.b[at] = paths.map((count, path) => count + (file.b[at]?.[path] ?? 0));
      }
    }
  }
  return istanbul.createCoverageMap(sum);
};
