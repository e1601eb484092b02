// The report: results.json, README.md and its plots.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { here } from "./build.ts";
import { number } from "./rounds.ts";
import type { Plot, Section, Standing, Table } from "./section.ts";

/** A section, and when and how quietly it was measured. */
export interface Measured extends Section {
  /** The word that selects it. */
  readonly name: string;
  readonly date: string;
  /** The commit whose code was measured: what has changed since is not in the figures. */
  readonly commit?: string;
  readonly noise: string;
}

/** The content of results.json. */
export interface Results {
  readonly machine: string;
  readonly versions: Readonly<Record<string, string>>;
  /** Peers that could not be installed here. */
  readonly absent: readonly string[];
  readonly notes: readonly string[];
  readonly sections: readonly Measured[];
}

const placeOf = ({ what, where }: Standing): string => (where ? `${what}, ${where}` : what);

const byEntry = (standings: readonly Standing[]): [string, Standing[]][] =>
  Object.entries(Object.groupBy(standings, ({ entry }) => entry)).map(([entry, some = []]) => [
    entry,
    some,
  ]);

const isLead = ({ ahead }: Standing): boolean => ahead > 1;

/** "in 8 of 11 (most in …: 3.09 x `openai`)": how many of its comparisons, and the furthest of them. */
const count = (
  of: readonly Standing[],
  some: readonly Standing[],
  end: string,
  worse: (one: Standing, other: Standing) => number,
): string => {
  const [furthest] = some.toSorted(worse);
  const lead = furthest && `${number(furthest.ahead)} x ${furthest.other}`;
  return `in ${some.length} of ${of.length}${furthest ? ` (${end} in ${placeOf(furthest)}: ${lead})` : ""}`;
};

/**
 * Where outdial stands beside the best other client, and where it doesn't lead: a sentence each, and
 * nothing while nobody was compared.
 */
export const headline = (standings: readonly Standing[]): readonly string[] => {
  if (standings.length === 0) return [];
  const leads = byEntry(standings).map(([entry, some]) => {
    const counted = count(
      some,
      some.filter(isLead),
      "most",
      (one, other) => other.ahead - one.ahead,
    );
    return `\`${entry}\` is ahead ${counted}`;
  });
  const trails = byEntry(standings).map(([entry, some]) => {
    const behind = some.filter((each) => !isLead(each));
    const counted = count(some, behind, "least", (one, other) => one.ahead - other.ahead);
    return `\`${entry}\` is level or behind ${counted}`;
  });
  return [
    `**Where outdial stands**: beside the best other client of each comparison below, ${leads.join(", and ")}.`,
    "",
    `**Where it does not lead**: ${trails.join(", and ")}.`,
    "",
  ];
};

/** Each comparison in a row, each of our entries in a column: 2 x is twice as good as the best other client. */
export const comparisons = (standings: readonly Standing[]): readonly Table[] => {
  if (standings.length === 0) return [];
  const entries = byEntry(standings).map(([entry]) => entry);
  const rows = Object.entries(Object.groupBy(standings, placeOf)).map(([where, some = []]) => [
    where,
    some[0]?.other ?? "",
    ...entries.map((entry) => {
      const found = some.find((each) => each.entry === entry);
      if (!found) return "–";
      const times = `${number(found.ahead)} x`;
      return isLead(found) ? `**${times}**` : times;
    }),
  ]);
  const columns = [
    "2 x is twice as good",
    "the best other",
    ...entries.map((each) => `\`${each}\``),
  ];
  return [{ columns, rows }];
};

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
  const { title, how, tables, targets, plots, remarks, date, commit, noise } = measured;
  return [
    `## ${title}`,
    "",
    how,
    "",
    `${date}${commit ? `, the code of commit ${commit}` : ""}; noise: ${noise}.`,
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
    ...plots.map(({ file, title: alt }) => `![${alt}](plots/${file}.svg)\n`),
    ...(remarks.length ? ["Not measured:", "", ...remarks.map((each) => `- ${each}`), ""] : []),
  ];
};

/** The report, written by this program and never by hand. */
export const markdown = (results: Results): string => {
  const { machine, versions, absent, notes, sections } = results;
  const targets = sections.flatMap((each) => each.targets);
  const missed = targets.filter(({ met }) => !met).length;
  const standings = sections.flatMap((each) => each.standings ?? []);
  const dates = [...new Set(sections.map(({ date }) => date))].toSorted();
  return [
    "# Benchmarks",
    "",
    ...headline(standings),
    ...comparisons(standings).flatMap(table),
    "Written by `npm run bench`; don't edit. All numbers are in [results.json](results.json).",
    "",
    `Measured on ${dates.join(" and ")}; each section has its date, and the commit whose code it measured: what has changed since is not in its figures. ${machine}. ${targets.length - missed} of ${targets.length} goals met, ${missed} missed.`,
    "",
    "Everyone is measured in the same run, round after round in turn, each in a process of its own, after a warm-up. A figure is the median of the rounds, its quartiles behind it; a ratio is taken within each round, so that what disturbs a round disturbs both. The same piece of work before each round shows how noisy the machine was: on a quiet one, its time does not vary.",
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

const colours = {
  ours: "#0b6e4f",
  floor: "#7a7f87",
  fetch: "#3b6fb5",
  "node:http": "#8a5fb0",
} as const;
const left = 250;
const width = 860;
const bar = 20;
const gap = 10;
const top = 52;

const plain = (text: string): string =>
  text.replace(/[*`]/g, "").replace(/[&<>]/g, (one) => `&#${one.charCodeAt(0)};`);

/** Bars beside each other from zero, each with its value and its quartiles; readable on light and dark. */
const svg = ({ title, unit, bars }: Plot): string => {
  const most = Math.max(...bars.map(({ high }) => high), 0);
  const scale = (value: number): number => (value / most) * (width - left - 110);
  const height = top + bars.length * (bar + gap) + 10;
  const drawn = bars.map(({ label, value, low, high, kind }, place) => {
    const y = top + place * (bar + gap);
    const middle = y + bar / 2;
    const [from, to] = [left + scale(low), left + scale(high)].map((x) => x.toFixed(1));
    const end = (left + scale(Math.max(value, high)) + 8).toFixed(1);
    return [
      `<text x="${left - 10}" y="${middle + 5}" text-anchor="end"${kind === "ours" ? ' font-weight="bold"' : ""}>${plain(label)}</text>`,
      `<rect x="${left}" y="${y}" width="${scale(value).toFixed(1)}" height="${bar}" fill="${colours[kind]}"/>`,
      high > low
        ? `<path d="M${from} ${middle}H${to}M${from} ${middle - 5}v10M${to} ${middle - 5}v10" stroke="#111" stroke-width="1.5"/>`
        : "",
      `<text x="${end}" y="${middle + 5}">${number(value)}</text>`,
    ].join("");
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="system-ui, sans-serif" font-size="14" fill="#111" role="img" aria-label="${plain(title)}">`,
    `<rect width="${width}" height="${height}" fill="#fff"/>`,
    `<text x="16" y="30" font-size="17" font-weight="bold">${plain(title)}, ${unit}</text>`,
    ...drawn,
    "</svg>",
    "",
  ].join("\n");
};

const resultsFile = `${here}results.json`;

/** Writes the figures of a run, the page, and its plots. */
export const writeReport = (results: Results): void => {
  writeFileSync(resultsFile, `${JSON.stringify(results)}\n`);
  writeFileSync(`${here}README.md`, markdown(results));
  for (const plot of results.sections.flatMap(({ plots }) => plots)) {
    writeFileSync(`${here}plots/${plot.file}.svg`, svg(plot));
  }
};

/** The results of the last run, if there was one. */
export const readResults = (): Results | undefined =>
  existsSync(resultsFile) ? JSON.parse(readFileSync(resultsFile, "utf8")) : undefined;
