import { utf8 } from "../../bytes/utf8.ts";
import { BadParametersException, type ParameterIssue } from "../../errors.ts";
import { check } from "../../rules/check.ts";
import { hasBlocked, isBlocked } from "../ledger/barred/blocked.ts";
import { erasedIn } from "../ledger/barred/erase.ts";
import { addToTally } from "../ledger/campaign/progress.ts";
import type { CampaignSettings } from "../settings.ts";
import type { Sql } from "../sql/sql.ts";
import { type Contact, ContactSchema, type RefusedContact } from "./contact.ts";

/** What became of the contacts that were added. */
export interface Added {
  /** How many there are now that there were not before. */
  readonly added: number;
  /** Contacts whose telephone is in the campaign already. */
  readonly duplicate: number;
  /** Each that can't be taken, and why. */
  readonly refused: readonly RefusedContact[];
}

/** A contact that obeys the rules, as the ledger keeps it. */
interface Entry {
  readonly to_number: string;
  readonly id: string | null;
  readonly timezone: string;
  readonly variables: string | null;
  readonly line: number;
}

/** How many contacts are added in one transaction. */
const page = 2_000;

/** The most that the variables of a contact take, in bytes of JSON. */
const largest = 700;

const refusal = (param: string, message: string): BadParametersException =>
  new BadParametersException([{ param, message }]);

const tell = ({ param, message }: ParameterIssue): string => `${param} ${message}`;

/** The variables that a URL carries, as JSON. */
const variablesOf = (
  { variables = {} }: Contact,
  names: CampaignSettings["variables"],
): string | null => {
  const kept = Object.entries(variables).filter(([name]) => names.includes(name));
  return kept.length > 0 ? JSON.stringify(Object.fromEntries(kept)) : null;
};

/**
 * How the ledger keeps a contact.
 *
 * @throws {BadParametersException} when it can't be taken
 */
const read = (
  given: unknown,
  line: number,
  { variables: names, prefixes }: CampaignSettings,
): Entry => {
  const output = check(ContactSchema, () => given);
  const { to_number, id = null, timezone = "" } = output;
  if (prefixes && !prefixes.some((prefix) => to_number.startsWith(prefix))) {
    throw refusal("to_number", "begins with none of the allowed prefixes");
  }
  const variables = variablesOf(output, names);
  if (variables && utf8(variables).length > largest) {
    throw refusal("variables", `must be at most ${largest} bytes`);
  }
  return { to_number, id, timezone, variables, line };
};

/** Writes a page of contacts. */
const insert = (sql: Sql, entries: readonly Entry[], at: number): number =>
  sql.transaction(() => {
    let waiting = 0;
    let skipped = 0;
    const isAnyBlocked = hasBlocked(sql);
    const zones = new Set<string>();
    for (const { to_number, id, timezone, variables, line } of entries) {
      const blocked = isAnyBlocked && isBlocked(sql, to_number);
      const isNew = sql.all(
        `insert into outdial_contact (to_number, id, timezone, variables, line, added, state, reason)
         values (?, ?, ?, ?, ?, ?, ?, ?) on conflict do nothing returning contact`,
        to_number,
        id,
        timezone,
        variables,
        line,
        at,
        blocked ? "skipped" : "waiting",
        blocked ? "blocked" : null,
      ).length;
      if (!isNew) continue;
      if (blocked) skipped++;
      else waiting++;
      zones.add(timezone);
    }
    for (const zone of zones) {
      sql.all("insert into outdial_zone values (?) on conflict do nothing", zone);
    }
    addToTally(sql, "waiting", waiting);
    addToTally(sql, "skipped", skipped);
    return waiting + skipped;
  });

/** Adds contacts to a campaign, a page at a time: they are never all in memory. */
export const addContacts = async (
  sql: Sql,
  contacts: Iterable<unknown> | AsyncIterable<unknown>,
  settings: CampaignSettings,
): Promise<Added> => {
  const isErased = erasedIn(sql, settings.secret);
  const refused: RefusedContact[] = [];
  let entries: Entry[] = [];
  let added = 0;
  let duplicate = 0;
  let count = 0;
  const flush = (): void => {
    const fresh = insert(sql, entries, settings.clock());
    added += fresh;
    duplicate += entries.length - fresh;
    entries = [];
  };
  for await (const given of contacts) {
    const { line: own } = Object(given);
    const line = Number.isSafeInteger(own) ? Number(own) : ++count;
    try {
      const entry = read(given, line, settings);
      if (isErased && (await isErased(entry.to_number))) throw refusal("to_number", "was erased");
      entries.push(entry);
    } catch (error) {
      if (!(error instanceof BadParametersException)) throw error;
      refused.push({ line, reason: error.issues.map(tell).join("; ") });
    }
    if (entries.length >= page) flush();
  }
  flush();
  return { added, duplicate, refused };
};
