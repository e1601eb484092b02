import { stateOfCampaign } from "../ledger/campaign/progress.ts";
import { type ContactRow, contactIn, endWaiting } from "../ledger/contact.ts";
import type { CampaignSettings } from "../settings.ts";
import type { Sql } from "../sql/sql.ts";
import type { CallingHours } from "../window/hours.ts";

/** The zones in which contacts wait; `""` is that of the windows. */
const zonesOf = (sql: Sql): readonly string[] =>
  sql.all("select timezone from outdial_zone").map(({ timezone }) => String(timezone));

/** Whose turn it is, those first that have waited longest: a few, however long the list. */
export const dueNow = (
  sql: Sql,
  hours: CallingHours,
  now: number,
  most: number,
): readonly ContactRow[] =>
  zonesOf(sql)
    .filter((zone) => hours.at(now, zone).open)
    .flatMap((zone) =>
      sql.all(
        `select * from outdial_contact where state = 'waiting' and timezone = ? and due <= ?
         order by due limit ?`,
        zone,
        now,
        most,
      ),
    )
    .map(contactIn)
    .sort((first, second) => first.due - second.due || first.contact - second.contact)
    .slice(0, most);

/** When it is the next contact's turn: after its wait, in its window. */
export const nextDue = (sql: Sql, hours: CallingHours, now: number): number => {
  const turns = zonesOf(sql).map((zone) => {
    const [{ due } = {}] = sql.all(
      "select min(due) as due from outdial_contact where state = 'waiting' and timezone = ?",
      zone,
    );
    return typeof due === "number"
      ? hours.opens(Math.max(now, due), zone)
      : Number.POSITIVE_INFINITY;
  });
  return Math.min(...turns);
};

/** From when on no call begins. */
export const endOf = ({ until }: CampaignSettings): number =>
  until?.getTime() ?? Number.POSITIVE_INFINITY;

/**
 * Ends those who wait for nothing any more.
 *
 * @returns whether there are no more of them
 */
export const endOverdue = (sql: Sql, settings: CampaignSettings): boolean => {
  const at = settings.clock();
  const isCanceled = stateOfCampaign(sql) === "canceled";
  if (!isCanceled && at < endOf(settings)) return true;
  return !endWaiting(sql, isCanceled ? "canceled" : "expired", at);
};
