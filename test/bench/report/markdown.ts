import { type Noise, noiseLine } from "../calibration.ts";
import type { Section, Table } from "../section.ts";

/** A whole run. */
export interface Results {
  readonly date: string;
  readonly machine: string;
  readonly noise: Noise;
  readonly versions: Readonly<Record<string, string>>;
  /** Peers that could not be installed here. */
  readonly absent: readonly string[];
  readonly notes: readonly string[];
  readonly sections: readonly Section[];
}

const row = (cells: readonly string[]): string =>
  `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;

const table = ({ title, columns, rows }: Table): string[] => [
  ...(title ? [`### ${title}`, ""] : []),
  row(columns),
  row(columns.map((_, place) => (place ? "---:" : "---"))),
  ...rows.map(row),
  "",
];

const section = ({ title, how, tables, targets, plots, remarks }: Section): string[] => [
  `## ${title}`,
  "",
  how,
  "",
  ...(targets.length
    ? table({
        columns: ["goal", "measured", ""],
        rows: targets.map(({ goal, measured, met }) => [
          goal,
          measured,
          met ? "met" : "**missed**",
        ]),
      })
    : []),
  ...tables.flatMap(table),
  ...plots.map(({ file, title: alt }) => `![${alt}](${file}.svg)\n`),
  ...(remarks.length ? ["Not measured:", "", ...remarks.map((each) => `- ${each}`), ""] : []),
];

/** The report, written by this program and never by hand. */
export const markdown = (results: Results): string => {
  const { date, machine, noise, versions, absent, notes, sections } = results;
  const targets = sections.flatMap((each) => each.targets);
  const missed = targets.filter(({ met }) => !met).length;
  return [
    "# Benchmarks",
    "",
    "Written by `npm run bench`; don't edit. All numbers are in [results.json](results.json).",
    "",
    `${date}, ${machine}. ${targets.length - missed} of ${targets.length} goals met, ${missed} missed.`,
    "",
    `How noisy the machine was: ${noiseLine(noise)}.`,
    "",
    "Everyone is measured in the same run, round after round in turn, each in a process of its own, after a warm-up. A figure is the median of the rounds, its quartiles behind it; a ratio is taken within each round, so that what disturbs a round disturbs both.",
    "",
    Object.entries(versions)
      .map(([name, version]) => `${name} ${version}`)
      .join(", "),
    "",
    ...(absent.length ? [`Could not be installed here: ${absent.join(", ")}.`, ""] : []),
    ...notes.map((note) => `- ${note}`),
    "",
    ...sections.flatMap(section),
  ].join("\n");
};
