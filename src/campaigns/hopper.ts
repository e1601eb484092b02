import type { CallingHours } from "./calling-hours.ts";
import type { Sql } from "./sqlite.ts";
import { type ContactRow, contactIn } from "./tables.ts";

/** The zones in which contacts wait; `""` is that of the windows. */
export const zonesOf = (sql: Sql): readonly string[] =>
  sql.all("select timezone from outdial_zone").map(({ timezone }) => String(timezone));

/** Contacts by why they are due, in the order in which they are called: a time that was agreed on is a promise to a person. */
const turns = [
  "call_for > attempts and due <= ?",
  "call_for <= attempts and due > 0 and due <= ?",
  "call_for <= attempts and due = 0 and ? > 0",
];

/**
 * The contacts that are due: those first that asked to be called at a time, then those that wait for another attempt,
 * of both the longest due first, and then those that were never called, in the order of the list. A few, however long
 * the list.
 */
export const dueNow = (
  sql: Sql,
  hours: CallingHours,
  now: number,
  most: number,
): readonly ContactRow[] => {
  const zones = zonesOf(sql).filter((zone) => hours.at(now, zone).open);
  const dueIn = (which: string, limit: number): readonly ContactRow[] =>
    zones
      .flatMap((zone) =>
        sql.all(
          `select * from outdial_contact where state = 'waiting' and timezone = ? and ${which}
           order by due limit ?`,
          zone,
          now,
          limit,
        ),
      )
      .map(contactIn)
      .sort((first, second) => first.due - second.due || first.contact - second.contact)
      .slice(0, limit);
  const all: ContactRow[] = [];
  for (const turn of turns) {
    if (all.length < most) all.push(...dueIn(turn, most - all.length));
  }
  return all;
};

/** When the next contact is due: after its wait, in its hours. */
export const nextDue = (sql: Sql, hours: CallingHours, now: number): number => {
  const times = zonesOf(sql).map((zone) => {
    const [{ due } = {}] = sql.all(
      "select min(due) as due from outdial_contact where state = 'waiting' and timezone = ?",
      zone,
    );
    return typeof due === "number"
      ? hours.opens(Math.max(now, due), zone)
      : Number.POSITIVE_INFINITY;
  });
  return Math.min(...times);
};
