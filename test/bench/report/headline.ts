import { number } from "../format.ts";
import type { Standing, Table } from "../section.ts";

const place = ({ what, where }: Standing): string => (where ? `${what}, ${where}` : what);

const byEntry = (standings: readonly Standing[]): [string, Standing[]][] =>
  Object.entries(Object.groupBy(standings, ({ entry }) => entry)).map(([entry, some = []]) => [
    entry,
    some,
  ]);

const isLead = ({ ahead }: Standing): boolean => ahead > 1;

/** "in 8 of 11 (by most in …: 3.09 x `openai`)": how many of its comparisons, and the furthest of them. */
const count = (
  of: readonly Standing[],
  some: readonly Standing[],
  end: string,
  worse: (one: Standing, other: Standing) => number,
): string => {
  const [furthest] = some.toSorted(worse);
  const told = furthest && `${number(furthest.ahead)} x ${furthest.other}`;
  return `in ${some.length} of ${of.length}${furthest ? ` (${end} in ${place(furthest)}: ${told})` : ""}`;
};

/**
 * Where outdial stands beside the best other client, and where it doesn't lead: a sentence each, and
 * nothing while nobody was compared.
 */
export const headline = (standings: readonly Standing[]): readonly string[] => {
  if (standings.length === 0) return [];
  const leads = byEntry(standings).map(([entry, some]) => {
    const told = count(some, some.filter(isLead), "most", (one, other) => other.ahead - one.ahead);
    return `\`${entry}\` is ahead ${told}`;
  });
  const trails = byEntry(standings).map(([entry, some]) => {
    const behind = some.filter((each) => !isLead(each));
    const told = count(some, behind, "least", (one, other) => one.ahead - other.ahead);
    return `\`${entry}\` is level or behind ${told}`;
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
  const rows = Object.entries(Object.groupBy(standings, place)).map(([where, some = []]) => [
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
