import { table } from "../section.ts";
import type { Mutant } from "./mutants.ts";
import type { Survivor } from "./survivors.ts";

/** The least score in total, in per cent. */
export const least = 85;

const isAlive = ({ status }: Mutant): boolean => status === "Survived" || status === "NoCoverage";

const count = (mutants: readonly Mutant[], ...statuses: readonly Mutant["status"][]): number =>
  mutants.filter(({ status }) => statuses.includes(status)).length;

/** Of the mutants that run at all, how many are noticed: by a test that fails, or never ends. */
export const scoreOf = (mutants: readonly Mutant[]): number => {
  const noticed = count(mutants, "Killed", "Timeout");
  return (100 * noticed) / (noticed + mutants.filter(isAlive).length);
};

// Rounded down: 84.99 is not 85.
const shown = (score: number): string => `${(Math.floor(score * 10) / 10).toFixed(1)} %`;

const rowOf = (name: string, mutants: readonly Mutant[]): readonly (string | number)[] => [
  name,
  mutants.length,
  count(mutants, "Killed"),
  count(mutants, "Timeout"),
  mutants.filter(isAlive).length,
  shown(scoreOf(mutants)),
];

/** The files in which something survives, the others together, and all. */
export const byFile = (mutants: readonly Mutant[]): string => {
  const files = Object.entries(Object.groupBy(mutants, ({ file }) => file)).sort();
  const [spotted = [], others = []] = [true, false].map((isSpotted) =>
    files.filter(([, own = []]) => own.some(isAlive) === isSpotted),
  );
  return table(
    ["file", "mutants", "killed", "never ended", "survived", "score"],
    [
      ...spotted.map(([file, own = []]) => rowOf(`\`${file}\``, own)),
      rowOf(
        `${others.length} other files`,
        others.flatMap(([, own = []]) => own),
      ),
      rowOf("**all**", mutants),
    ],
  );
};

const keyOf = ({ file, line, from, to }: Pick<Mutant, "file" | "line" | "from" | "to">): string =>
  JSON.stringify([file, line, from, to]);

/** Survivors that nobody has given a reason for. */
export const unexplained = (
  mutants: readonly Mutant[],
  survivors: readonly Survivor[],
): readonly Mutant[] => {
  const known = new Set(survivors.map(keyOf));
  return mutants.filter((mutant) => isAlive(mutant) && !known.has(keyOf(mutant)));
};

/** Listed survivors that are none: the code is another, or a test has come to notice. */
export const outdated = (
  mutants: readonly Mutant[],
  survivors: readonly Survivor[],
): readonly Survivor[] => {
  const alive = new Set(mutants.filter(isAlive).map(keyOf));
  return survivors.filter((survivor) => !alive.has(keyOf(survivor)));
};

const code = (text: string): string => `\`${text.length > 60 ? `${text.slice(0, 57)}…` : text}\``;

/** The survivors, each with its reason; those with the same reason together. */
export const reasons = (survivors: readonly Survivor[]): string => {
  const groups = Object.entries(Object.groupBy(survivors, ({ why }) => why));
  const lines = groups.map(([why, group = []]) => {
    const pieces = group.map(
      ({ file, from, to }) => `${code(from)} → ${code(to)} in ${file.slice(4)}`,
    );
    return `- ${why}: ${pieces.join("; ")}.`;
  });
  return lines.join("\n");
};
