import type { CallingHours } from "./calling-hours.ts";
import type { Row, Sql } from "./sqlite.ts";
import { type ContactRow, contactFieldsIn, textIn } from "./tables.ts";

/** The zones in which contacts wait; `""` is that of the windows. */
export const zonesOf = (sql: Sql): readonly string[] =>
  sql.all("select timezone from outdial_zone").map(({ timezone }) => String(timezone));

/** Somebody to be called now: what a call needs. */
export type DueContact = Pick<
  ContactRow,
  | ("contact" | "to_number" | "written" | "id" | "timezone" | "variables")
  | ("attempts" | "due" | "from_number" | "call_id")
>;

/** Only these: each further column costs as much as a small statement. */
const columns =
  "contact, to_number, written, id, timezone, variables, attempts, due, from_number, call_id";

const dueContactIn = (row: Row): DueContact => ({
  ...contactFieldsIn(row),
  id: textIn(row.id),
  variables: textIn(row.variables),
  call_id: textIn(row.call_id),
});

/** Contacts by why they are due, in the order in which they are called: a time that was agreed on is a promise to a person. */
const groups = [
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
): readonly DueContact[] => {
  const zones = zonesOf(sql).filter((zone) => hours.at(now, zone).open);
  const dueIn = (which: string, limit: number): readonly DueContact[] => {
    // A part of the text: SQLite prepares a statement again for each value that a limit is bound to.
    const rows = 2 ** Math.ceil(Math.log2(limit));
    const statement = `select ${columns} from outdial_contact
      where state = 'waiting' and timezone = ? and ${which} order by due limit ${rows}`;
    return zones
      .flatMap((zone) => sql.all(statement, zone, now))
      .map(dueContactIn)
      .sort((first, second) => first.due - second.due || first.contact - second.contact)
      .slice(0, limit);
  };
  const all: DueContact[] = [];
  for (const group of groups) {
    if (all.length < most) all.push(...dueIn(group, most - all.length));
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
