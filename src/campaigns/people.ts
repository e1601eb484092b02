import { fnv1a, utf8 } from "../lib/encoding.ts";
import type { Sql } from "./sqlite.ts";

/**
 * Contacts of a list with one id and several numbers are one person: who asks not to be called again is not called by another
 * number. The other numbers are found by an index, which only a ledger has in which an id was there twice.
 */
const index = "outdial_person";

/** Whether any id of the ledger may have several numbers. */
const hasShared = (sql: Sql): boolean =>
  sql.all(`select 1 from sqlite_master where name = '${index}'`).length > 0;

/** The numbers of other contacts with the ids of those with some numbers. */
export const otherNumbersOf = (sql: Sql, numbers: readonly string[]): readonly string[] => {
  if (!hasShared(sql)) return [];
  const given = new Set(numbers);
  const others = numbers.flatMap((number) =>
    sql
      .all(
        `select o.to_number from outdial_contact c join outdial_contact o on o.id = c.id
         where c.to_number = ? and c.id is not null and o.contact <> c.contact`,
        number,
      )
      .map(({ to_number }) => String(to_number)),
  );
  return [...new Set(others)].filter((number) => !given.has(number));
};

/** Some rows of a list. */
export interface ListRows {
  /** How many. */
  readonly count: number;
  /** The lines of the first 20. */
  readonly lines: readonly number[];
}

/** What a list says of people with several numbers. */
export interface People {
  /** Rows whose id another row with another number has: one person for `block`. */
  readonly sharedIds: ListRows;
  /**
   * Rows that are new, and have the id of a contact that was called by another number and is no longer in the list: they are called,
   * too.
   */
  readonly corrected: ListRows;
}

/**
 * Finds ids that come again, in 4 bytes each: a list is never in memory. Of a million, some hundred that don't come again are taken for
 * such.
 */
export class SeenIds {
  #hashes = new Uint32Array(1_024);
  #count = 0;

  /** @returns whether the id may have been there before */
  add(id: string): boolean {
    if (this.#count * 2 > this.#hashes.length) this.#grow();
    const hash = fnv1a(utf8(id));
    return this.#insert((hash ^ (hash >>> 15)) >>> 0 || 1);
  }

  #insert(hash: number): boolean {
    const last = this.#hashes.length - 1;
    // 0 is a free place.
    for (let at = Math.imul(hash, 0x9e3779b1) >>> 0; ; at++) {
      const found = this.#hashes[at & last];
      if (found === hash) return true;
      if (found !== 0) continue;
      this.#hashes[at & last] = hash;
      this.#count++;
      return false;
    }
  }

  #grow(): void {
    const before = this.#hashes;
    this.#hashes = new Uint32Array(before.length * 2);
    this.#count = 0;
    for (const hash of before) if (hash !== 0) this.#insert(hash);
  }
}

/** The tables of a list that is being read. */
interface ListTables {
  /** The rows: `entry`, `to_number`, `id`, `line`. */
  readonly rows: string;
  /** The numbers that the list blocks. */
  readonly blocked: string;
  /** A condition on a row or a contact, by its alias: whether its number is blocked. */
  readonly isBlocked: (alias: string) => string;
}

/** The ids that may have several numbers, those of new rows, and the rows that have one of the first. */
const [ids, newIds, doubled] = [
  "outdial_draft_person",
  "outdial_draft_new",
  "outdial_draft_doubled",
];

/** What makes the tables of the connection in which people are found. */
export const peopleTables = (temporary: "temp" | ""): readonly string[] => [
  `create ${temporary} table ${ids} (id text primary key) without rowid`,
  `create ${temporary} table ${newIds} (id text primary key) without rowid`,
  `create ${temporary} table ${doubled}
     (id text, to_number text, entry integer, line integer, primary key (id, to_number)) without rowid`,
];

/** Their names. */
export const peopleTableNames: readonly string[] = [ids, newIds, doubled];

/** An id of the list that may be there twice. */
export const noteShared = (sql: Sql, id: string): void => {
  sql.all(`insert into ${ids} values (?) on conflict do nothing`, id);
};

/** How many lines are kept. */
const mostLines = 20;

const none: ListRows = { count: 0, lines: [] };

const addRows = ({ count, lines }: ListRows, found: readonly unknown[]): ListRows => ({
  count: count + found.length,
  lines: [...lines, ...found.slice(0, mostLines - lines.length).map(Number)],
});

/**
 * Finds the people of a list who have several numbers, and blocks all of somebody's numbers where one is blocked.
 *
 * @param isNew - whether the list has rows that the ledger hasn't, and the ledger has contacts
 * @param pagesOf - the bounds of the pages of a table
 * @param yieldToApplication - lets other work go on
 */
export const findPeople = async (
  sql: Sql,
  { rows, blocked, isBlocked }: ListTables,
  isNew: boolean,
  pagesOf: (column: string, table: string) => Iterable<readonly [number, number]>,
  yieldToApplication: () => Promise<void>,
): Promise<People & { readonly isShared: boolean }> => {
  const inPages = async (
    [column, table]: readonly [string, string],
    work: (bounds: readonly [number, number]) => void,
  ): Promise<void> => {
    for (const bounds of pagesOf(column, table)) {
      work(bounds);
      await yieldToApplication();
    }
  };
  const list = ["entry", rows] as const;
  const contacts = ["contact", "outdial_contact"] as const;
  const isKnown = "exists (select 1 from outdial_contact k where k.to_number = d.to_number)";
  if (isNew) {
    await inPages(list, (bounds) => {
      sql.all(
        `insert into ${newIds} select d.id from ${rows} d
         where d.entry > ? and d.entry <= ? and d.id is not null and not ${isKnown} on conflict do nothing`,
        ...bounds,
      );
    });
    await inPages(contacts, (bounds) => {
      sql.all(
        `insert into ${ids} select c.id from outdial_contact c
         where c.contact > ? and c.contact <= ? and c.id in (select id from ${newIds}) on conflict do nothing`,
        ...bounds,
      );
    });
  }
  if (sql.all(`select 1 from ${ids} limit 1`).length === 0) {
    return { sharedIds: none, corrected: none, isShared: false };
  }
  await inPages(list, (bounds) => {
    sql.all(
      `insert into ${doubled} select d.id, d.to_number, d.entry, d.line from ${rows} d
       where d.entry > ? and d.entry <= ? and d.id in (select id from ${ids}) on conflict do nothing`,
      ...bounds,
    );
  });
  let [sharedIds, corrected] = [none, none];
  const othersOf = (table: string): string =>
    `from ${table} c join ${doubled} d on d.id = c.id and d.to_number <> c.to_number`;
  const blockOthers = (others: string, bounds: readonly [number, number]): void => {
    sql.all(
      `insert into ${blocked} select d.to_number ${others} and ${isBlocked("c")} on conflict do nothing`,
      ...bounds,
    );
  };
  await inPages(list, (bounds) => {
    const others = `${othersOf(rows)} where c.entry > ? and c.entry <= ?`;
    const shared = sql.all(`select distinct c.line ${others} order by c.entry`, ...bounds);
    sharedIds = addRows(
      sharedIds,
      shared.map(({ line }) => line),
    );
    blockOthers(others, bounds);
  });
  let isShared = sharedIds.count > 0;
  await inPages(contacts, (bounds) => {
    const others = `${othersOf("outdial_contact")} where c.contact > ? and c.contact <= ?`;
    const found = sql.all(
      `select d.line, c.attempts > 0 and not ${isKnown} and not exists (
         select 1 from ${rows} own where own.to_number = c.to_number) as corrected
       ${others} order by d.entry`,
      ...bounds,
    );
    isShared ||= found.length > 0;
    const called = found.filter((row) => row.corrected === 1);
    corrected = addRows(
      corrected,
      called.map(({ line }) => line),
    );
    blockOthers(others, bounds);
  });
  return { sharedIds, corrected, isShared };
};

/** Has the other numbers of a person found from now on, in a transaction of the caller's. */
export const keepShared = (sql: Sql): void => {
  sql.all(`create index if not exists ${index} on outdial_contact (id) where id is not null`);
};
