import { number } from "../format.ts";
import type { Standing } from "../section.ts";

/** "a, b and c" */
const list = (parts: readonly string[]): string =>
  parts.length > 1 ? `${parts.slice(0, -1).join(", ")} and ${parts.at(-1)}` : (parts[0] ?? "");

/** "in calls a second over HTTP (1 in flight: 1.20 x `twilio`; 50 in flight: …) and in …" */
const told = (standings: readonly Standing[]): string => {
  const things = Object.entries(Object.groupBy(standings, ({ what }) => what));
  return list(
    things.map(([what, some = []]) => {
      const places = some.map(({ where, ahead, other }) => {
        const times = `${number(ahead)} x ${other}`;
        return where ? `${where}: ${times}` : times;
      });
      return `in ${what} (${places.join("; ")})`;
    }),
  );
};

const sentence = (
  standings: readonly Standing[],
  begin: (entry: string) => string,
  none: string,
): string => {
  const entries = Object.entries(Object.groupBy(standings, ({ entry }) => entry));
  const parts = entries.map(([entry, some = []]) => `${begin(`\`${entry}\``)} ${told(some)}`);
  return `${parts.length > 0 ? parts.join("; ") : none}.`;
};

/**
 * Where outdial stands beside the best other client, and where it doesn't lead: a sentence each, and
 * nothing while nobody was compared.
 */
export const headline = (standings: readonly Standing[]): readonly string[] => {
  if (standings.length === 0) return [];
  const leads = standings.filter(({ ahead }) => ahead > 1);
  const trails = standings.filter(({ ahead }) => !(ahead > 1));
  const leading = (entry: string) => `${entry} is better than any other client here`;
  const trailing = (entry: string) => `another client is as good as ${entry} or better`;
  return [
    `**Where outdial stands** (2 x is twice as good): ${sentence(leads, leading, "no client of ours is ahead of all others in anything")}`,
    "",
    `**Where it does not lead** (0.5 x is half as good): ${sentence(trails, trailing, "nowhere that was measured")}`,
    "",
  ];
};
