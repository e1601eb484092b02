import { custom, type GenericSchema, optional, strictObject } from "valibot";
import { check, isFunction, isText, presence } from "../lib/check.ts";
import { end, move } from "./contact-state.ts";
import {
  addContacts,
  type Contact,
  ContactReader,
  type Entry,
  type RefusedContact,
  zoneConflict,
} from "./contacts.ts";
import { blockAll, erasedReason, hasErased, numbersIn, wasErased } from "./do-not-call.ts";
import { type RetryPlan, retriesOf } from "./next-step.ts";
import type { ListSettings } from "./options.ts";
import {
  findPeople,
  keepShared,
  noteShared,
  type People,
  peopleTableNames,
  peopleTables,
  SeenIds,
} from "./people.ts";
import { patience, type Row, type Sql, whileBusy, yieldToOthers } from "./sqlite.ts";
import { type ContactRow, contactIn, numberIn, textIn } from "./tables.ts";

/** What a list would change in a campaign. */
export interface SyncPlan extends People {
  /** Contacts of the list, each telephone once. */
  readonly listed: number;
  /** Rows whose telephone an earlier row of the list has. */
  readonly duplicate: number;
  /** Rows that can't be taken, and why. */
  readonly refused: readonly RefusedContact[];
  /** Contacts that are new in the campaign, and may be called. */
  readonly added: number;
  /** Contacts that are new in the campaign, and on the do-not-call list. */
  readonly blocked: number;
  /** Contacts that wait, and that the numbers in `doNotCall` block. */
  readonly newlyBlocked: number;
  /** Contacts that were not in the list before, and wait again. */
  readonly restored: number;
  /** Contacts that wait and get another id, other variables (if never called) or another time zone. */
  readonly changed: number;
  /** Contacts that wait and are no longer in the list: they are not called. */
  readonly removed: number;
  /** Contacts that are new in the campaign, and have a time of their own (`call_at`). */
  readonly appointments: number;
  /** The reasons that another attempt follows, each with its delay and the attempts of a contact in all. */
  readonly retries: RetryPlan;
  /** What the options allow, and is probably not meant. */
  readonly warnings: readonly string[];
}

/** How a campaign is brought in line with a list. */
export interface SyncOptions {
  /**
   * A number or numbers for the do-not-call list, in E.164: they count in the plan, and are blocked with it.
   *
   * @defaultValue none
   */
  readonly doNotCall?: string | Iterable<string> | undefined;
  /**
   * Called with the plan, before anything changes; `false` changes nothing.
   *
   * @defaultValue every plan is applied
   */
  readonly confirm?: ((plan: SyncPlan) => boolean | Promise<boolean>) | undefined;
}

const isIterable = (value: unknown): boolean =>
  isText(value) || (typeof value === "object" && value !== null && Symbol.iterator in value);

const SyncOptionsSchema: GenericSchema<unknown, SyncOptions> = strictObject(
  {
    doNotCall: optional(custom<string | Iterable<string>>(isIterable, "must be E.164 numbers")),
    confirm: optional(
      custom<NonNullable<SyncOptions["confirm"]>>(isFunction, "must be a function"),
    ),
  },
  presence,
);

/** The result of `sync`. */
export interface Synced extends SyncPlan {
  /** Whether the plan was applied. */
  readonly applied: boolean;
}

/** How many rows one query reads, and one transaction writes: few, so that nobody waits for it. */
const page = 5_000;

const draft = "outdial_draft";
const draftBlocked = "outdial_draft_blocked";

/** The new list lies in tables of the connection, which no other process sees. */
const tablesOf = (sql: Sql): readonly string[] => {
  const temporary = sql.hasTemporaryTables ? "temp" : "";
  return [
    `create ${temporary} table ${draft} (
      entry integer primary key, to_number text not null unique, written text, id text, timezone text not null,
      variables text, line integer not null, call_at integer, from_number text, conflict integer not null default 0
    )`,
    `create ${temporary} table ${draftBlocked} (to_number text primary key) without rowid`,
    ...peopleTables(temporary),
  ];
};

const dropTables = (sql: Sql): void => {
  for (const table of [draft, draftBlocked, ...peopleTableNames])
    sql.all(`drop table if exists ${table}`);
};

const isBlocked = (table: string): string => `(${isNewlyBlocked(table)} or exists (
  select 1 from outdial_blocked where outdial_blocked.to_number = ${table}.to_number))`;
const isNewlyBlocked = (table: string): string =>
  `exists (select 1 from ${draftBlocked} where ${draftBlocked}.to_number = ${table}.to_number)`;
const isKnown = `exists (
  select 1 from outdial_contact where outdial_contact.to_number = ${draft}.to_number)`;

/** Each contact of a page of the ledger, with its row of the list if there is one. */
const pageOfContacts = `outdial_contact c left join ${draft} d on d.to_number = c.to_number
  where c.contact > ? and c.contact <= ?`;
const isRemoved = "(d.entry is null and c.listed = 1)";
const isRestored = "(d.entry is not null and c.listed = 0)";
/** A contact that left the list before it was called. */
const mayWaitAgain = `(c.state = 'canceled' and c.attempts = 0 and not ${isBlocked("c")})`;
const isChanged = `(d.entry is not null and (d.timezone <> c.timezone
  or (c.attempts = 0 and (d.written is not c.written or d.id is not c.id or d.variables is not c.variables
    or ifnull(d.call_at <> ifnull(c.call_at, 0), 0) or ifnull(d.from_number <> ifnull(c.from_number, ''), 0)))))`;

const countIn = (sql: Sql, from: string, where: string, ...bounds: number[]): number =>
  Number(sql.all(`select count(*) as n from ${from} and ${where}`, ...bounds)[0]?.n);

const lastOf = (sql: Sql, column: string, table: string): number =>
  Number(sql.all(`select max(${column}) as last from ${table}`)[0]?.last ?? 0);

/** The bounds of the pages of a table, one after the other. */
function* pagesOf(sql: Sql, column: string, table: string): Generator<[number, number], void> {
  const last = lastOf(sql, column, table);
  for (let from = 0; from < last; from += page) yield [from, from + page];
}

/**
 * Repeats work while another program holds the file.
 *
 * @throws {LedgerException} `busy`, after 10 s
 */
const patiently = <T>(work: () => Promise<T> | T): Promise<T> =>
  whileBusy(work, (triedFor) => triedFor > patience);

/**
 * How much of the tables is in memory, in KiB: the index of two million numbers, which are looked up in no order. With the
 * few that SQLite has by default, a look-up reads the file.
 */
const cache = 65_536;

/** SQLite's own, in KiB. */
const defaultCache = 2_000;

/** Makes the tables for a list, and removes them after the work. */
const withTables = async <T>(sql: Sql, work: () => Promise<T>): Promise<T> => {
  const sized = (kibibytes: number): void => {
    if (sql.hasTemporaryTables) sql.all(`pragma temp.cache_size = -${kibibytes}`);
  };
  await patiently(() => {
    dropTables(sql);
    sized(cache);
    for (const table of tablesOf(sql)) sql.all(table);
  });
  try {
    return await work();
  } finally {
    await patiently(() => {
      dropTables(sql);
      sized(defaultCache);
    });
  }
};

/** What the rows of a list that were written so far come to. */
interface ReadRows {
  readonly seen: SeenIds;
  duplicate: number;
  readonly refused: RefusedContact[];
}

/** Has a number blocked with the plan. */
const writeBlocked = (sql: Sql, to_number: string): void => {
  sql.all(`insert into ${draftBlocked} values (?) on conflict do nothing`, to_number);
};

/** Has the numbers of all rows with some ids blocked with the plan: rows with one id are one person. */
const blockByIds = async (sql: Sql, ids: readonly string[]): Promise<void> => {
  for (const bounds of pagesOf(sql, "entry", draft)) {
    sql.all(
      `insert into ${draftBlocked} select to_number from ${draft}
       where entry > ? and entry <= ? and id in (select value from json_each(?)) on conflict do nothing`,
      ...bounds,
      JSON.stringify(ids),
    );
    await yieldToOthers();
  }
};

/** Writes a row of the list into the tables of the connection: of a telephone the first row stays. */
const writeRow = (sql: Sql, entry: Entry, rows: ReadRows): void => {
  const { to_number, written, id, timezone, variables, line, doNotCall } = entry;
  const { call_at, from_number } = entry;
  if (doNotCall) writeBlocked(sql, to_number);
  const [isNew] = sql.all(
    `insert into ${draft} (to_number, written, id, timezone, variables, line, call_at, from_number)
     values (?, ?, ?, ?, ?, ?, ?, ?)
     on conflict do nothing returning 1 as one`,
    to_number,
    written,
    id,
    timezone,
    variables,
    line,
    call_at,
    from_number,
  );
  if (isNew) {
    if (id !== null && rows.seen.add(id)) noteShared(sql, id);
    return;
  }
  const [known = {}] = sql.all(`select * from ${draft} where to_number = ?`, to_number);
  const isConflict = timezone && known.timezone && known.timezone !== timezone;
  if (isConflict) {
    const other = Number(known.line);
    if (!known.conflict) rows.refused.push({ line: other, reason: zoneConflict(line) });
    rows.refused.push({ line, reason: zoneConflict(other) });
  } else rows.duplicate++;
  sql.all(
    `update ${draft} set conflict = max(conflict, ?), timezone = ? where to_number = ?`,
    isConflict ? 1 : 0,
    String(known.timezone) || timezone,
    to_number,
  );
};

/** Reads a list into the tables of the connection. */
const readList = async (
  sql: Sql,
  contacts: Iterable<Contact> | AsyncIterable<Contact>,
  settings: ListSettings,
): Promise<Pick<SyncPlan, "duplicate" | "refused">> => {
  const rows: ReadRows = { seen: new SeenIds(), duplicate: 0, refused: [] };
  let entries: Entry[] = [];
  let count = 0;
  let isAnyErased = false;
  const flush = (): void => {
    const full = entries;
    entries = [];
    sql.temporarily(() => {
      for (const entry of full) writeRow(sql, entry, rows);
    });
  };
  const reader = new ContactReader(settings);
  /** The ids of rows that can't be taken, and say that nobody is to be called. */
  const blockedIds = new Set<string>();
  for await (const contact of contacts) {
    // A look for each row would cost a quarter of the whole; who is erased meanwhile is refused when the plan is applied.
    if (count++ % page === 0) {
      flush();
      await yieldToOthers();
      isAnyErased = await patiently(() => hasErased(sql));
    }
    const entry = reader.read(contact);
    if ("refused" in entry) {
      rows.refused.push(entry.refused);
      const { to_number, id } = entry.blocked;
      if (to_number !== undefined) writeBlocked(sql, to_number);
      if (id !== undefined) blockedIds.add(id);
    } else if (
      isAnyErased &&
      (await patiently(() => wasErased(sql, settings.secret, entry.to_number)))
    ) {
      rows.refused.push({ line: entry.line, reason: erasedReason });
    } else entries.push(entry);
  }
  flush();
  if (blockedIds.size > 0) await blockByIds(sql, [...blockedIds]);
  sql.all(`delete from ${draft} where conflict = 1`);
  const { duplicate, refused } = rows;
  return { duplicate, refused };
};

/** The numbers that the list blocks, in pages. */
function* pagesOfBlocked(sql: Sql): Generator<readonly string[], void> {
  for (let last = ""; ; ) {
    const numbers = sql
      .all(
        `select to_number from ${draftBlocked} where to_number > ? order by to_number limit ${page}`,
        last,
      )
      .map(({ to_number }) => String(to_number));
    yield numbers;
    last = numbers.at(-1) ?? "";
    if (numbers.length < page) return;
  }
}

/** Reads the numbers that are to be blocked into the tables of the connection. */
const readBlocked = async (
  sql: Sql,
  numbers: string | Iterable<string>,
  secret: ListSettings["secret"],
): Promise<void> => {
  let count = 0;
  let isAnyErased = false;
  for (const number of numbersIn(numbers, "doNotCall")) {
    if (count++ % page === 0) {
      if (count > 1) await yieldToOthers();
      isAnyErased = await patiently(() => hasErased(sql));
    }
    if (isAnyErased && (await patiently(() => wasErased(sql, secret, number)))) continue;
    writeBlocked(sql, number);
  }
};

/** What of a list is new in the ledger. */
const freshIn = async (sql: Sql): Promise<Pick<SyncPlan, "added" | "blocked" | "appointments">> => {
  const counts = { added: 0, blocked: 0, appointments: 0 };
  for (const bounds of pagesOf(sql, "entry", draft)) {
    const rows = `${draft} where entry > ? and entry <= ? and not ${isKnown}`;
    counts.added += countIn(sql, rows, `not ${isBlocked(draft)}`, ...bounds);
    counts.blocked += countIn(sql, rows, isBlocked(draft), ...bounds);
    const isTimed = `call_at is not null and not ${isBlocked(draft)}`;
    counts.appointments += countIn(sql, rows, isTimed, ...bounds);
    await yieldToOthers();
  }
  return counts;
};

/** What a list is brought in line by; `warnings` of the options. */
type SyncSettings = ListSettings & Pick<SyncPlan, "warnings">;

/** What the list that was read would change, and whether somebody in it has several numbers. */
const planOf = async (
  sql: Sql,
  read: Pick<SyncPlan, "duplicate" | "refused">,
  settings: SyncSettings,
): Promise<{ readonly plan: SyncPlan; readonly isShared: boolean }> => {
  const first = await freshIn(sql);
  const isNew = first.added + first.blocked > 0 && lastOf(sql, "contact", "outdial_contact") > 0;
  const { isShared, ...people } = await findPeople(
    sql,
    { rows: draft, blocked: draftBlocked, isBlocked },
    isNew,
    (column, table) => pagesOf(sql, column, table),
    yieldToOthers,
  );
  const fresh = isShared ? await freshIn(sql) : first;
  const counts = { newlyBlocked: 0, restored: 0, changed: 0, removed: 0 };
  const waits = "c.state = 'waiting'";
  for (const bounds of pagesOf(sql, "contact", "outdial_contact")) {
    const count = (where: string): number => countIn(sql, pageOfContacts, where, ...bounds);
    counts.newlyBlocked += count(`${waits} and d.entry is not null and ${isNewlyBlocked("c")}`);
    counts.restored += count(`${isRestored} and ${mayWaitAgain}`);
    counts.changed += count(`${waits} and ${isChanged}`);
    counts.removed += count(`${waits} and ${isRemoved}`);
    await yieldToOthers();
  }
  const listed = countIn(sql, `${draft} where true`, "true");
  const retries = retriesOf(settings);
  const { warnings } = settings;
  return { plan: { ...read, listed, ...fresh, ...counts, ...people, retries, warnings }, isShared };
};

/** Takes over who calls a contact, and when, that was never called; where the list says nothing, all stays. */
const setCallTime = (sql: Sql, contact: ContactRow, row: Row): ContactRow => {
  const call_at = numberIn(row.new_call_at) ?? contact.call_at;
  const call_for = call_at === undefined ? 0 : 1;
  sql.all(
    `update outdial_contact set from_number = ?, call_at = ?, call_for = ?,
       due = case when call_at is ? then due else ? end where contact = ?`,
    textIn(row.new_from_number) ?? contact.from_number ?? null,
    call_at ?? null,
    call_for,
    call_at ?? null,
    call_at ?? 0,
    contact.contact,
  );
  return { ...contact, call_at, call_for };
};

/** Changes a page of the contacts that are in the ledger by the list. */
const applyPage = (sql: Sql, bounds: readonly [number, number], at: number): void => {
  const rows = sql.all(
    `select c.*, ${mayWaitAgain} as again, d.entry, d.written as new_written, d.id as new_id, d.timezone as new_timezone,
       d.variables as new_variables, d.call_at as new_call_at, d.from_number as new_from_number
     from ${pageOfContacts} and (${isRemoved} or ${isRestored} or ${isChanged})`,
    ...bounds,
  );
  for (const row of rows) {
    const contact = contactIn(row);
    const listed = row.entry !== null;
    sql.all(
      "update outdial_contact set listed = ? where contact = ?",
      listed ? 1 : 0,
      contact.contact,
    );
    if (!listed) {
      const reason = "no longer in the list";
      if (contact.state === "waiting") end(sql, contact, "canceled", { at, reason });
      continue;
    }
    const own = contact.attempts === 0 ? row : undefined;
    const written = own ? own.new_written : row.written;
    const id = own ? own.new_id : row.id;
    const variables = own ? own.new_variables : row.variables;
    sql.all(
      "update outdial_contact set written = ?, id = ?, timezone = ?, variables = ? where contact = ?",
      written === null ? null : String(written),
      id === null ? null : String(id),
      String(row.new_timezone),
      variables === null ? null : String(variables),
      contact.contact,
    );
    const asked = own ? setCallTime(sql, contact, row) : contact;
    if (!contact.listed && row.again) move(sql, { ...asked, listed }, "waiting", { at });
  }
};

/** The contacts of the list that are not in the ledger, in the order of the list. */
async function* newContacts(sql: Sql): AsyncGenerator<Contact, void> {
  for (const bounds of pagesOf(sql, "entry", draft)) {
    const rows = await patiently(() =>
      sql.all(
        `select * from ${draft} where entry > ? and entry <= ? and not ${isKnown} order by entry`,
        ...bounds,
      ),
    );
    for (const row of rows) {
      const { to_number, written, id, timezone, variables, line, call_at, from_number } = row;
      yield {
        to_number: String(written ?? to_number),
        ...(id && { id: String(id) }),
        ...(timezone && { timezone: String(timezone) }),
        ...(variables && { variables: JSON.parse(String(variables)) }),
        ...(call_at !== null && { call_at: new Date(Number(call_at)) }),
        ...(from_number && { from_number: String(from_number) }),
        line: Number(line),
      };
    }
  }
}

/**
 * Brings the contacts of a campaign in line with a list. Nothing changes before the whole list was read
 * and the plan is confirmed.
 */
export const syncContacts = async (
  sql: Sql,
  contacts: Iterable<Contact> | AsyncIterable<Contact>,
  options: SyncOptions,
  settings: SyncSettings,
): Promise<Synced> => {
  const { doNotCall = [], confirm = () => true } = check(
    SyncOptionsSchema,
    () => options,
    "options",
  );
  const write = <T>(work: () => T): Promise<T> => patiently(() => sql.commit(work));
  return withTables(sql, async () => {
    await readBlocked(sql, doNotCall, settings.secret);
    const read = await readList(sql, contacts, settings);
    const { plan, isShared } = await patiently(() => planOf(sql, read, settings));
    if (!(await confirm(plan))) return { ...plan, applied: false };
    const { clock } = settings;
    if (isShared) await write(() => keepShared(sql));
    const waiting = { whileBusy: patiently, holdWhile: patiently };
    for (const numbers of pagesOfBlocked(sql)) {
      await blockAll(sql, numbers, settings.secret, clock(), waiting);
      await yieldToOthers();
    }
    await write(() => {
      sql.all(
        `insert into outdial_zone select distinct timezone from ${draft} where true
         on conflict do nothing`,
      );
    });
    const pages = await patiently(() => [...pagesOf(sql, "contact", "outdial_contact")]);
    for (const bounds of pages) {
      await write(() => applyPage(sql, bounds, clock()));
    }
    const { refused } = await addContacts(sql, newContacts(sql), settings);
    return { ...plan, refused: [...plan.refused, ...refused], applied: true };
  });
};
