import istanbul, {
  type CoverageMap,
  type CoverageSummary,
  type FileCoverage,
} from "istanbul-lib-coverage";
import { table } from "../section.ts";

/** The least, in per cent, of statements and of branches alike. */
export const least = 95;

const kinds = ["statements", "branches"] as const;

const percent = ({ covered, total }: { readonly covered: number; readonly total: number }) =>
  total === 0 ? 100 : (100 * covered) / total;

// Rounded down: 94.99 is not 95.
const shown = (one: { readonly covered: number; readonly total: number }): string =>
  `${(Math.floor(percent(one) * 10) / 10).toFixed(1)} %`;

const figures = (sum: CoverageSummary): readonly string[] => kinds.map((kind) => shown(sum[kind]));

const isBelow = (sum: CoverageSummary): boolean => kinds.some((kind) => percent(sum[kind]) < least);

/** Whether a map is not covered enough in total. */
export const fails = (map: CoverageMap): boolean => isBelow(map.getCoverageSummary());

/** The lines with something that never ran. */
const linesOf = (file: FileCoverage): readonly number[] => {
  const lines = new Set<number>();
  for (const [at, count] of Object.entries(file.s)) {
    const line = file.statementMap[at]?.start.line;
    if (count === 0 && line !== undefined) lines.add(line);
  }
  for (const [at, counts] of Object.entries(file.b)) {
    const branch = file.branchMap[at];
    counts.forEach((count, path) => {
      // The missing `else` of an `if` has no place of its own.
      const line = branch?.locations[path]?.start.line ?? branch?.loc.start.line;
      if (count === 0 && line !== undefined) lines.add(line);
    });
  }
  return [...lines].sort((one, other) => one - other);
};

/** The files below the least, and where. */
export const filesBelow = (map: CoverageMap): string => {
  const rows = map
    .files()
    .map((name) => map.fileCoverageFor(name))
    .filter((file) => isBelow(file.toSummary()))
    .map((file) => [`\`${file.path}\``, ...figures(file.toSummary()), linesOf(file).join(", ")]);
  return table(["file below 95 %", ...kinds, "lines with a part that never ran"], rows);
};

/** `src/emulator/flow/ask.ts` belongs to `src/emulator`, and `src/errors.ts` to `src`. */
const folderOf = (file: string): string => /^src(\/[^/]+(?=\/))?/.exec(file)?.[0] ?? file;

/** Folder by folder, and in total. */
export const byFolder = (map: CoverageMap): string => {
  const sums = new Map<string, CoverageSummary>();
  for (const file of map.files()) {
    const folder = folderOf(file);
    const sum = sums.get(folder) ?? istanbul.createCoverageSummary();
    sum.merge(map.fileCoverageFor(file).toSummary());
    sums.set(folder, sum);
  }
  const rows = [...sums].map(([folder, sum]) => [`\`${folder}\``, ...figures(sum)]);
  return table(["folder", ...kinds], [...rows, ["**all**", ...figures(map.getCoverageSummary())]]);
};

/** What each contributor covers by itself; those that cover as much as each other share a row. */
export const byContributor = (maps: ReadonlyMap<string, CoverageMap>): string => {
  const rows = Object.entries(
    Object.groupBy([...maps], ([, map]) => figures(map.getCoverageSummary()).join(" | ")),
  );
  return table(
    ["by itself", ...kinds],
    rows.map(([sum, alike = []]) => [alike.map(([who]) => who).join(", "), sum]),
  );
};
