import { custom, type GenericSchema, is, optional, strictObject } from "valibot";
import { CallParams } from "../calls/params.ts";
import { BadParametersException, type ParameterIssue } from "../errors.ts";
import { check, fail, fieldsOf, isText, presence } from "../lib/check.ts";
import { utf8 } from "../lib/encoding.ts";
import { callTimeOf } from "./call-backs.ts";
import { isTimezone, timezoneRule } from "./calling-hours.ts";
import { move } from "./contact-state.ts";
import {
  block,
  blockAll,
  erasedMarksOf,
  erasedReason,
  hasBlocked,
  hasErased,
  isBlocked,
  telephoneOf,
} from "./do-not-call.ts";
import type { ListSettings } from "./options.ts";
import { addToTally } from "./progress.ts";
import { patience, type Sql, whileBusy, yieldToOthers } from "./sqlite.ts";
import { contactIn, factOf, setFact } from "./tables.ts";

/** Somebody to call. */
export interface Contact {
  /** E.164. A campaign has a telephone once. */
  readonly to_number: string;
  /** Your own name for the contact, at most 64 bytes: signed URLs and results carry it. */
  readonly id?: string | undefined;
  /** IANA: the contact's own, instead of the window's. */
  readonly timezone?: string | undefined;
  /** Values for the flow; only those that the option `variables` names are kept. */
  readonly variables?: Readonly<Record<string, string>> | undefined;
  /**
   * When the contact is to be called for the first time: a `Date`, ISO 8601, or local time such as `"2026-06-03 15:00"` in
   * its `timezone`, or in that of the windows. Outside the calling hours it is called at the next opening.
   *
   * @defaultValue as soon as it is its turn
   */
  readonly call_at?: Date | string | undefined;
  /**
   * Who calls this contact, instead of the campaign's `from_number`.
   *
   * @defaultValue the campaign's
   */
  readonly from_number?: string | undefined;
  /**
   * Whether the number goes on the do-not-call list, as the list says; also where another field breaks its rule.
   *
   * @defaultValue `false`
   */
  readonly doNotCall?: boolean | undefined;
  /** The line in its list; counted from 1 otherwise. */
  readonly line?: number | undefined;
}

/** A contact that can't be added, and why. */
export interface RefusedContact {
  /** The line in its list. */
  readonly line: number;
  /** The field and its rule, never the value. */
  readonly reason: string;
}

/** The result of `add`. */
export interface Added {
  /** Contacts that are new in the campaign. */
  readonly added: number;
  /** Contacts whose telephone is in the campaign already. */
  readonly duplicate: number;
  /** Contacts that can't be added, and why. */
  readonly refused: readonly RefusedContact[];
}

const isVariables = (value: unknown): boolean =>
  value === undefined ||
  (typeof value === "object" &&
    value !== null &&
    Object.values(value).every((each) => typeof each === "string"));

/** Whether a text has at most so many bytes: most are so short that none has to be counted. */
const isWithin = (text: string, most: number): boolean =>
  text.length * 3 <= most || utf8(text).length <= most;

/** The rules of a contact. */
const ContactSchema: GenericSchema<unknown, Contact> = strictObject(
  {
    to_number: CallParams.entries.to_number,
    id: optional(
      custom<string>(
        (value) => typeof value === "string" && /^\P{C}+$/u.test(value) && isWithin(value, 64),
        "must be a text of 1 to 64 bytes",
      ),
    ),
    timezone: optional(
      custom<string>((value) => typeof value === "string" && isTimezone(value), timezoneRule),
    ),
    variables: optional(
      custom<Readonly<Record<string, string>>>(isVariables, "must be an object of strings"),
    ),
    call_at: optional(
      custom<Date | string>(
        (value) => value instanceof Date || typeof value === "string",
        "must be a Date, or a text",
      ),
    ),
    from_number: optional(CallParams.entries.from_number),
    doNotCall: optional(
      custom<boolean>((value) => typeof value === "boolean", "must be true or false"),
    ),
    line: optional(custom<number>(Number.isSafeInteger, "must be a whole number")),
  },
  presence,
);

/** A valid contact, as the ledger keeps it. */
export interface Entry {
  /** In the spelling by which the telephone is known. */
  readonly to_number: string;
  /** As it is written, where that differs. */
  readonly written: string | null;
  readonly id: string | null;
  readonly timezone: string;
  /** JSON. */
  readonly variables: string | null;
  readonly line: number;
  readonly doNotCall: boolean;
  /** Milliseconds since 1970. */
  readonly call_at: number | null;
  readonly from_number: string | null;
}

type ContactRules = Pick<ListSettings, "variables" | "prefixes" | "window">;

/** The most that the variables of a contact take, in bytes of JSON. */
const mostVariables = 700;

/** The named variables as JSON. */
const variablesOf = ({ variables = {} }: Contact, names: readonly string[]): string | null => {
  if (names.length === 0) return null;
  const kept = Object.entries(variables).filter(([name]) => names.includes(name));
  return kept.length > 0 ? JSON.stringify(Object.fromEntries(kept)) : null;
};

const entryOf = (given: unknown, line: number, rules: ContactRules): Entry => {
  const { variables: names, prefixes } = rules;
  const output = check(ContactSchema, () => given);
  const { id = null, timezone = "", doNotCall = false, from_number = null } = output;
  if (prefixes && !prefixes.some((prefix) => output.to_number.startsWith(prefix))) {
    fail("to_number", "begins with none of the allowed prefixes");
  }
  const variables = variablesOf(output, names);
  if (variables && !isWithin(variables, mostVariables)) {
    fail("variables", `must be at most ${mostVariables} bytes`);
  }
  const to_number = telephoneOf(output.to_number);
  const written = to_number === output.to_number ? null : output.to_number;
  const call_at =
    output.call_at === undefined ? null : callTimeOf(output.call_at, timezone, rules, "call_at");
  return { to_number, written, id, timezone, variables, line, doNotCall, call_at, from_number };
};

const textOf = ({ param, message }: ParameterIssue): string => `${param} ${message}`;

/** A row that can't be taken. */
export interface Refusal {
  readonly refused: RefusedContact;
  /** Whom the row puts on the do-not-call list all the same: another row may have the number, or the id. */
  readonly blocked: { readonly to_number: string | undefined; readonly id: string | undefined };
}

/** Whom a row that breaks a rule puts on the do-not-call list. */
const blockedBy = (given: unknown): Refusal["blocked"] => {
  const { to_number, id, doNotCall } = fieldsOf(given);
  const isNumber = doNotCall === true && is(CallParams.entries.to_number, to_number);
  return {
    to_number: isNumber ? telephoneOf(to_number) : undefined,
    id: doNotCall === true && isText(id) && id ? id : undefined,
  };
};

/** Reads the contacts of one list, and counts its lines. */
export class ContactReader {
  readonly #rules: ContactRules;
  #count = 0;

  constructor(rules: ContactRules) {
    this.#rules = rules;
  }

  /** A contact as the ledger keeps it, or why it can't be added. */
  read(given: unknown): Entry | Refusal {
    const own =
      typeof given === "object" && given !== null && "line" in given ? given.line : undefined;
    const line = Number.isSafeInteger(own) ? Number(own) : ++this.#count;
    try {
      return entryOf(given, line, this.#rules);
    } catch (error) {
      if (!(error instanceof BadParametersException)) throw error;
      const reason = error.issues.map(textOf).join("; ");
      return { refused: { line, reason }, blocked: blockedBy(given) };
    }
  }
}

/** Why a row is refused whose time zone differs from that of another row with its number. */
export const zoneConflict = (other: number): string =>
  `timezone differs from that of line ${other}, which has the same to_number`;

/** How many rows were written so far: one query for a page costs less than one for each row. */
const changesIn = (sql: Sql): number =>
  Number(sql.all("select total_changes() as changes")[0]?.changes);

/** A page of a list that is being added. */
interface Page {
  readonly added: number;
  readonly duplicate: number;
  readonly refused: readonly RefusedContact[];
}

/** Writes contacts of one state, and returns how many of them are new. */
const insert = (
  sql: Sql,
  entries: readonly Entry[],
  list: number,
  at: number,
  [state, reason]: readonly ["waiting" | "blocked", string | null],
): number => {
  const before = changesIn(sql);
  for (const entry of entries) {
    const { to_number, written, id, timezone, variables, line, call_at, from_number } = entry;
    sql.all(
      `insert into outdial_contact
       (to_number, written, id, timezone, variables, line, list, added, state, reason, due, call_at, call_for, from_number)
       values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict do nothing`,
      to_number,
      written,
      id,
      timezone,
      variables,
      line,
      list,
      at,
      state,
      reason,
      call_at ?? 0,
      call_at,
      call_at === null ? 0 : 1,
      from_number,
    );
  }
  const added = changesIn(sql) - before;
  addToTally(sql, state, added);
  return added;
};

/**
 * Takes over the time zone of a row whose telephone is in the ledger already: nobody is called by the
 * wrong clock. Where two rows of one list differ, neither is right: both are refused.
 */
const correctZone = (
  sql: Sql,
  { to_number, timezone, line }: Entry,
  list: number,
  at: number,
): readonly RefusedContact[] => {
  const [row] = sql.all("select * from outdial_contact where to_number = ?", to_number);
  if (!timezone || !row) return [];
  if (row.list !== list || row.timezone === "") {
    sql.all(
      "update outdial_contact set timezone = ?, list = ?, line = ? where contact = ?",
      timezone,
      list,
      line,
      Number(row.contact),
    );
    return [];
  }
  if (row.timezone === timezone) return [];
  const other = Number(row.line);
  const contact = contactIn(row);
  const reason = zoneConflict(line);
  if (contact.state === "waiting") move(sql, contact, "refused", { at, reason });
  return [
    { line: other, reason },
    { line, reason: zoneConflict(other) },
  ];
};

/** Takes over the time at which a contact is to be called that was never called. */
const correctCallTime = (sql: Sql, { to_number, call_at }: Entry): void => {
  if (call_at === null) return;
  sql.all(
    `update outdial_contact set call_at = ?, call_for = 1, due = ?
     where to_number = ? and attempts = 0 and state = 'waiting' and call_at is not ?`,
    call_at,
    call_at,
    to_number,
    call_at,
  );
};

type Marked = Entry & { readonly marks?: readonly string[] | undefined };

/** Writes a page of contacts; nothing, when numbers were erased and the entries have no marks to compare. */
const insertPage = (
  sql: Sql,
  entries: readonly Marked[],
  list: number,
  at: number,
): Page | undefined => {
  const isAnyErased = hasErased(sql);
  if (isAnyErased && entries.some(({ marks }) => !marks)) return;
  const wasErased = ({ marks }: Marked): boolean =>
    isAnyErased && !!marks?.some((mark) => isBlocked(sql, mark));
  for (const entry of entries) {
    // Before any row of its number: an earlier one would wait, and be called.
    if (entry.doNotCall && !wasErased(entry)) block(sql, [entry.to_number], [], at);
  }
  const isAnyBlocked = hasBlocked(sql);
  const free: Entry[] = [];
  const blocked: Entry[] = [];
  const refused: RefusedContact[] = [];
  for (const entry of entries) {
    if (wasErased(entry)) {
      refused.push({ line: entry.line, reason: erasedReason });
    } else if (isAnyBlocked && isBlocked(sql, entry.to_number)) blocked.push(entry);
    else free.push(entry);
  }
  const taken = [...free, ...blocked];
  for (const zone of new Set(taken.map(({ timezone }) => timezone))) {
    sql.all("insert into outdial_zone values (?) on conflict do nothing", zone);
  }
  const added =
    insert(sql, free, list, at, ["waiting", null]) +
    insert(sql, blocked, list, at, ["blocked", "blocked"]);
  const duplicate = taken.length - added;
  if (duplicate > 0) {
    for (const entry of taken) {
      refused.push(...correctZone(sql, entry, list, at));
      correctCallTime(sql, entry);
    }
  }
  return { added, duplicate, refused };
};

/**
 * How many contacts are added in one transaction. Fewer take longer, since each commit writes most pages of the index anew;
 * more keep so much alive that V8's heap grows.
 */
const page = 4_000;

/** The next number of a list. */
const nextList = (sql: Sql): number => {
  const list = Number(factOf(sql, "lists")) + 1;
  setFact(sql, "lists", list);
  return list;
};

/** Adds contacts to a campaign, a page at a time: they are never all in memory. */
export const addContacts = async (
  sql: Sql,
  contacts: Iterable<unknown> | AsyncIterable<unknown>,
  settings: ListSettings,
): Promise<Added> => {
  const { clock, secret } = settings;
  const refused: RefusedContact[] = [];
  let entries: Entry[] = [];
  let blocked: string[] = [];
  let added = 0;
  let duplicate = 0;
  const write = <T>(work: () => T): Promise<T> =>
    whileBusy(
      () => sql.commit(work),
      (triedFor) => triedFor > patience,
    );
  const list = await write(() => nextList(sql));
  const flush = async (): Promise<void> => {
    const full = entries;
    const numbers = blocked;
    entries = [];
    blocked = [];
    const block = () => blockAll(sql, numbers, secret, clock());
    if (numbers.length > 0) await whileBusy(block, (triedFor) => triedFor > patience);
    // In the transaction of the insert: somebody may have been erased a moment ago.
    const insertAll = (some: readonly Marked[]) =>
      write(() => insertPage(sql, some, list, clock()));
    const marked = (): Promise<readonly Marked[]> =>
      Promise.all(
        full.map(async (entry) => ({
          ...entry,
          marks: await erasedMarksOf(secret, entry.to_number),
        })),
      );
    const done = (await insertAll(full)) ?? (await insertAll(await marked()));
    added += done?.added ?? 0;
    duplicate += done?.duplicate ?? 0;
    refused.push(...(done?.refused ?? []));
  };
  const reader = new ContactReader(settings);
  /** @returns whether a page is full */
  const read = (given: unknown): boolean => {
    const entry = reader.read(given);
    if ("refused" in entry) {
      refused.push(entry.refused);
      const { to_number } = entry.blocked;
      if (to_number !== undefined) blocked.push(to_number);
    } else entries.push(entry);
    return entries.length + blocked.length >= page;
  };
  const flushPage = async (): Promise<void> => {
    await flush();
    await yieldToOthers();
  };
  try {
    if (Symbol.asyncIterator in contacts) {
      for await (const given of contacts) if (read(given)) await flushPage();
    } else {
      // What is there already isn't waited for: each wait costs as much as the rules, and leaves as much on the heap.
      for (const given of contacts) if (read(given)) await flushPage();
    }
  } finally {
    // Also what came before the list broke.
    await flush();
  }
  return { added, duplicate, refused };
};
