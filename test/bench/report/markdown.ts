import type { Section, Table } from "../section.ts";
import { comparisons, headline } from "./headline.ts";

/** A section, and when and how quietly it was measured. */
export interface Measured extends Section {
  /** The word that asks for it. */
  readonly name: string;
  readonly date: string;
  readonly noise: string;
}

/** All that is kept. */
export interface Results {
  readonly machine: string;
  readonly versions: Readonly<Record<string, string>>;
  /** Peers that could not be installed here. */
  readonly absent: readonly string[];
  readonly notes: readonly string[];
  readonly sections: readonly Measured[];
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

const section = (measured: Measured): string[] => {
  const { title, how, tables, targets, plots, remarks, date, noise } = measured;
  return [
    `## ${title}`,
    "",
    how,
    "",
    `${date}; noise: ${noise}.`,
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
};

/** The report, written by this program and never by hand. */
export const markdown = (results: Results): string => {
  const { machine, versions, absent, notes, sections } = results;
  const targets = sections.flatMap((each) => each.targets);
  const missed = targets.filter(({ met }) => !met).length;
  const standings = sections.flatMap((each) => each.standings ?? []);
  return [
    "# Benchmarks",
    "",
    ...headline(standings),
    ...comparisons(standings).flatMap(table),
    "Written by `npm run bench`; don't edit. All numbers are in [results.json](results.json).",
    "",
    `${machine}. ${targets.length - missed} of ${targets.length} goals met, ${missed} missed.`,
    "",
    "Everyone is measured in the same run, round after round in turn, each in a process of its own, after a warm-up. A figure is the median of the rounds, its quartiles behind it; a ratio is taken within each round, so that what disturbs a round disturbs both. How noisy the machine was, the same piece of work tells that is done before each round: on a quiet one, it always takes as long as the fastest.",
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
