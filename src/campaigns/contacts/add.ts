import { utf8 } from "../../bytes/utf8.ts";
import { BadParametersException, type ParameterIssue } from "../../errors.ts";
import { check } from "../../rules/check.ts";
import { hasBlocked, isBlocked } from "../ledger/barred/blocked.ts";
import { hasErased, isBuried, tombstonesOf } from "../ledger/barred/tombstone.ts";
import { addToTally } from "../ledger/campaign/progress.ts";
import { foldLong } from "../ledger/log.ts";
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

/** A contact, and the tombstones of its number; `undefined` while nobody was erased. */
type Stoned = Entry & { readonly stones?: readonly string[] | undefined };

const stoned = async (entry: Entry, { secret }: CampaignSettings): Promise<Stoned> => ({
  ...entry,
  stones: await tombstonesOf(secret, entry.to_number),
});

/** A zone that was corrected in the list: nobody is called by the wrong clock. */
const correct = (sql: Sql, { to_number, timezone }: Entry): void => {
  if (!timezone) return;
  sql.all(
    "update outdial_contact set timezone = ? where to_number = ? and timezone <> ?",
    timezone,
    to_number,
    timezone,
  );
};

/** What became of a page. */
interface Page {
  readonly added: number;
  readonly duplicate: number;
  /** The lines of those who were erased. */
  readonly erased: readonly number[];
}

const nothing: Page = { added: 0, duplicate: 0, erased: [] };

/** Writes a page of contacts; nothing, when somebody was erased and the tombstones aren't known. */
const insert = (sql: Sql, entries: readonly Stoned[], at: number): Page | undefined => {
  const isAnyErased = hasErased(sql);
  if (isAnyErased && entries.some(({ stones }) => !stones)) return;
  const isAnyBlocked = hasBlocked(sql);
  const free: Entry[] = [];
  const blocked: Entry[] = [];
  const erased: number[] = [];
  for (const entry of entries) {
    if (isAnyErased && isBuried(sql, entry.stones ?? [])) erased.push(entry.line);
    else if (isAnyBlocked && isBlocked(sql, entry.to_number)) blocked.push(entry);
    else free.push(entry);
  }
  const taken = [...free, ...blocked];
  for (const zone of new Set(taken.map(({ timezone }) => timezone))) {
    sql.all("insert into outdial_zone values (?) on conflict do nothing", zone);
  }
  const added =
    insertAs(sql, free, at, ["waiting", null]) + insertAs(sql, blocked, at, ["skipped", "blocked"]);
  if (added < taken.length) for (const entry of taken) correct(sql, entry);
  return { added, duplicate: taken.length - added, erased };
};

/** Adds contacts to a campaign, a page at a time: they are never all in memory. */
export const addContacts = async (
  sql: Sql,
  contacts: Iterable<unknown> | AsyncIterable<unknown>,
  settings: CampaignSettings,
): Promise<Added> => {
  const refused: RefusedContact[] = [];
  let entries: Entry[] = [];
  let added = 0;
  let duplicate = 0;
  let count = 0;
  const flush = async (isLast: boolean): Promise<void> => {
    const full = entries;
    entries = [];
    const write = (some: readonly Stoned[]): Page | undefined => {
      const work = (): Page | undefined => insert(sql, some, settings.clock());
      // A page that a power cut takes back is added again with its list: only the end of it must last.
      return isLast ? sql.transaction(work) : sql.relaxed(work);
    };
    // Who was erased is asked in the transaction of the insert: it may have been a moment ago.
    const known = (): Promise<readonly Stoned[]> =>
      Promise.all(full.map((entry) => stoned(entry, settings)));
    const done = write(full) ?? write(await known()) ?? nothing;
    foldLong(sql);
    added += done.added;
    duplicate += done.duplicate;
    refused.push(...done.erased.map((line) => ({ line, reason: "to_number was erased" })));
  };
  const take = (given: unknown): void => {
    const { line: own } = Object(given);
    const line = Number.isSafeInteger(own) ? Number(own) : ++count;
    try {
      entries.push(read(given, line, settings));
    } catch (error) {
      if (!(error instanceof BadParametersException)) throw error;
      refused.push({ line, reason: error.issues.map(tell).join("; ") });
    }
  };
  try {
    for await (const given of contacts) {
      take(given);
      if (entries.length >= page) await flush(false);
    }
  } finally {
    // Also what came before the list broke.
    await flush(true);
  }
  return { added, duplicate, refused };
};
