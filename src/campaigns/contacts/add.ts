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

/** What a campaign asks of its contacts. */
export interface ContactRules {
  readonly variables?: CampaignSettings["variables"] | undefined;
  readonly prefixes?: CampaignSettings["prefixes"];
}

/** How many contacts are added in one transaction. Few: what is kept for long makes the heap grow. */
const page = 200;

/** The most that the variables of a contact take, in bytes of JSON. */
const largest = 700;

const refusal = (param: string, message: string): BadParametersException =>
  new BadParametersException([{ param, message }]);

export const tell = ({ param, message }: ParameterIssue): string => `${param} ${message}`;

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
export const read = (
  given: unknown,
  line: number,
  { variables: names = [], prefixes }: ContactRules,
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

/** How many rows were written so far: to ask once for a page is cheaper than to ask for each. */
const written = (sql: Sql): number =>
  Number(sql.all("select total_changes() as changes")[0]?.changes);

/** Writes contacts of one state, and gives how many of them are new. */
const insertAs = (
  sql: Sql,
  entries: readonly Entry[],
  at: number,
  [state, reason]: readonly ["waiting" | "skipped", string | null],
): number => {
  const before = written(sql);
  for (const { to_number, id, timezone, variables, line } of entries) {
    sql.all(
      `insert into outdial_contact (to_number, id, timezone, variables, line, added, state, reason)
       values (?, ?, ?, ?, ?, ?, ?, ?) on conflict do nothing`,
      to_number,
      id,
      timezone,
      variables,
      line,
      at,
      state,
      reason,
    );
  }
  const fresh = written(sql) - before;
  addToTally(sql, state, fresh);
  return fresh;
};

/** Writes a page of contacts, and gives how many of them are new. */
const insert = (sql: Sql, entries: readonly Entry[], at: number): number => {
  const isAnyBlocked = hasBlocked(sql);
  const free: Entry[] = [];
  const blocked: Entry[] = [];
  for (const entry of entries) {
    const isOut = isAnyBlocked && isBlocked(sql, entry.to_number);
    (isOut ? blocked : free).push(entry);
  }
  for (const zone of new Set(entries.map(({ timezone }) => timezone))) {
    sql.all("insert into outdial_zone values (?) on conflict do nothing", zone);
  }
  return (
    insertAs(sql, free, at, ["waiting", null]) + insertAs(sql, blocked, at, ["skipped", "blocked"])
  );
};

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
  const flush = (isLast: boolean): void => {
    const write = (): number => insert(sql, entries, settings.clock());
    // A page that a power cut takes back is added again with its list: only the end of it must last.
    const fresh = isLast ? sql.transaction(write) : sql.relaxed(write);
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
    if (entries.length >= page) flush(false);
  }
  flush(true);
  return { added, duplicate, refused };
};
