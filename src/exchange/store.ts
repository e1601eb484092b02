import { createHash, createHmac } from "node:crypto";
import { closeSync, openSync } from "node:fs";
import type { DatabaseSync, SQLInputValue } from "node:sqlite";
import type { CallLimits, RequestedCall, StoredMessage } from "../server/call.ts";
import type { CallFacts, CallRecord, HistoryEntry } from "../server/history.ts";
import { type IdempotencyKeys, keyLifetime } from "../server/outdial/kept-keys.ts";

/** Whose interface a request came by. */
export type SideName = "outdial" | "twilio" | "telnyx" | "vonage";

/** The store can't be written: the disk is full, or another program holds the file. */
export class StoreError extends Error {
  override readonly name = "StoreError" as const;
}

/** A call as it was asked for. */
export interface AcceptedCall {
  readonly id: string;
  readonly side: SideName;
  readonly params: RequestedCall;
  readonly limits: CallLimits;
  /** What its side needs to know it again. */
  readonly kept: unknown;
  /** The URL of the request. */
  readonly url: string;
}

/** A call as it is stored. */
export interface StoredRow extends AcceptedCall {
  readonly facts: CallFacts;
  /** Whether Asterisk has answered the request for its telephone, or it has rung. */
  readonly isSettled: boolean;
}

/** A notification as it is stored. */
export interface StoredNotification extends StoredMessage {
  readonly call_id: string;
  readonly side: SideName;
  /** When it was made, and when it is sent next, in milliseconds since 1970. */
  readonly made_at: number;
  readonly next_at: number;
  readonly attempts: number;
  readonly state: "pending" | "delivered" | "given_up";
  readonly status: number | undefined;
  readonly error: string | undefined;
  /** The beginning of the latest response. */
  readonly response: string | undefined;
}

/** What an attempt changes. */
export type NotificationProgress = Pick<
  StoredNotification,
  "state" | "attempts" | "next_at" | "status" | "error" | "response"
>;

type Row = Readonly<Record<string, unknown>>;

/** The tables, by the version of the store that has them first. */
const versions: readonly string[] = [
  `create table meta (name text primary key, value text not null) strict;
   create table calls (
     id text primary key, side text not null, params text not null, limits text not null, kept text, url text not null,
     facts text not null, settled integer not null default 0, fenced_until integer,
     from_number text not null, to_number text not null, initiated_at integer not null, ended_at integer
   ) strict;
   create index calls_live on calls (initiated_at) where ended_at is null;
   create index calls_ended on calls (ended_at) where ended_at is not null;
   create index calls_to on calls (to_number);
   create table entries (seq integer primary key, call_id text not null, entry text not null) strict;
   create index entries_of on entries (call_id, seq);
   create table notifications (
     seq integer primary key, id text not null unique, call_id text not null, side text not null, event text not null,
     url text not null, method text not null, body text not null, fixed text, made_at integer not null,
     next_at integer not null, attempts integer not null default 0, state text not null default 'pending',
     status integer, error text, response text
   ) strict;
   create index notifications_of on notifications (call_id, seq);
   create index notifications_open on notifications (state) where state <> 'delivered';
   create table keys (digest text primary key, body text not null, call_id text, until integer not null) strict;`,
];

const digestOf = (text: string): string => createHash("sha256").update(text).digest("base64url");

/** The digest of a body by a key that isn't stored: whoever has the file can't try numbers. */
const bodyDigestOf = (key: string, body: string): string =>
  createHmac("sha256", key).update(body).digest("base64url");

/** How long a program that holds the file is waited for, in milliseconds: everything stands still then. */
const busyTimeout = 500;

/** How long after they happened entries of a history are written at the latest, in milliseconds. */
const entryDelay = 500;

/** How long it takes until what could not be written is tried again, in milliseconds. */
const retryInterval = 1_000;

/** What is written as soon as that is possible. */
interface Kept {
  readonly work: () => void;
  readonly onWritten: () => void;
}

/** The results of SQLite that pass: busy, locked, read-only, a failure of the disk, full, can't be opened. */
const passing: ReadonlySet<unknown> = new Set([5, 6, 8, 10, 13, 14]);

const isPassing = (error: unknown): boolean =>
  // The lowest byte has the kind.
  error instanceof Error && "errcode" in error && passing.has(Number(error.errcode) & 0xff);

const textOf = (value: unknown): string => String(value);

const optional = <T>(value: unknown, of: (value: unknown) => T): T | undefined =>
  value === null || value === undefined ? undefined : of(value);

const parsed = (value: unknown) => JSON.parse(textOf(value));

const rowOf = (row: Row): StoredRow => ({
  id: textOf(row.id),
  side: parsed(row.side),
  params: parsed(row.params),
  limits: parsed(row.limits),
  kept: optional(row.kept, parsed),
  url: textOf(row.url),
  facts: parsed(row.facts),
  isSettled: row.settled === 1,
});

const notificationOf = (row: Row): StoredNotification => ({
  id: textOf(row.id),
  call_id: textOf(row.call_id),
  side: parsed(row.side),
  event: textOf(row.event),
  url: textOf(row.url),
  method: row.method === "GET" ? "GET" : "POST",
  body: textOf(row.body),
  fixed: optional(row.fixed, parsed),
  made_at: Number(row.made_at),
  next_at: Number(row.next_at),
  attempts: Number(row.attempts),
  state: row.state === "delivered" || row.state === "given_up" ? row.state : "pending",
  status: optional(row.status, Number),
  error: optional(row.error, textOf),
  response: optional(row.response, textOf),
});

/**
 * The file of an exchange. Other tables are made by their owners, by `create table if not exists`, on the same connection.
 * What is written stands on the disk once `write` returns.
 */
export class Store {
  readonly database: DatabaseSync;
  readonly #lock: DatabaseSync;
  readonly #statements = new Map<string, ReturnType<DatabaseSync["prepare"]>>();
  #isWriting = false;
  #entries: HistoryEntry[] = [];
  #flushing: ReturnType<typeof setTimeout> | undefined;
  /** What could not be written, in order. */
  #unwritten: Kept[] = [];
  #retrying: ReturnType<typeof setTimeout> | undefined;

  /**
   * @param lock - a database of its own, whose lock says that the store is served
   * @throws {TypeError} when another process serves it, or a newer version has written it
   */
  constructor(database: DatabaseSync, lock: DatabaseSync) {
    this.database = database;
    this.#lock = lock;
    try {
      lock.exec("begin exclusive");
    } catch {
      database.close();
      lock.close();
      throw new TypeError("store: another process serves it");
    }
    database.exec(
      `pragma journal_mode = wal; pragma synchronous = full; pragma secure_delete = on; pragma busy_timeout = ${busyTimeout}`,
    );
    const version = Number(database.prepare("pragma user_version").get()?.user_version);
    if (version > versions.length) {
      throw new TypeError("store: a newer version of outdial has written it");
    }
    for (const [at, tables] of versions.entries()) {
      if (at >= version) database.exec(`begin; ${tables} pragma user_version = ${at + 1}; commit`);
    }
  }

  /** Whether there is a key of the own interface: else `regenerateKey` of the service makes the first. */
  get hasKey(): boolean {
    return this.meta("key") !== undefined;
  }

  close(): void {
    clearTimeout(this.#flushing);
    clearTimeout(this.#retrying);
    this.#writeAgain();
    this.#flush();
    this.database.close();
    this.#lock.close();
  }

  /**
   * Writes all of it, or nothing.
   *
   * @throws {StoreError} when it can't be written: nothing is then
   */
  write<T>(work: () => T): T {
    if (this.#isWriting) return work();
    const entries = this.#entries;
    try {
      this.database.exec("begin immediate");
    } catch {
      throw new StoreError("The store can't be written.");
    }
    this.#isWriting = true;
    try {
      this.#entries = [];
      for (const entry of entries) this.#writeEntry(entry);
      const result = work();
      for (const entry of this.#entries) this.#writeEntry(entry);
      this.#entries = [];
      this.database.exec("commit");
      return result;
    } catch (error) {
      this.#entries = entries;
      try {
        this.database.exec("rollback");
      } catch {
        // A full disk may have rolled it back already.
      }
      throw isPassing(error) ? new StoreError("The store can't be written.") : error;
    } finally {
      this.#isWriting = false;
    }
  }

  /**
   * Writes what must not be lost: now, or as soon as the store can be written.
   *
   * @param onWritten - called once it stands on the disk
   */
  keep(work: () => void, onWritten: () => void = () => {}): void {
    if (this.#isWriting) {
      work();
      return;
    }
    if (!this.database.isOpen) return;
    this.#unwritten.push({ work, onWritten });
    if (this.#unwritten.length === 1) this.#writeAgain();
  }

  #writeAgain(): void {
    const kept = [...this.#unwritten];
    if (kept.length === 0) return;
    try {
      this.write(() => {
        for (const { work } of kept) work();
      });
      this.#unwritten = this.#unwritten.slice(kept.length);
      for (const { onWritten } of kept) onWritten();
    } catch (error) {
      if (!(error instanceof StoreError)) {
        this.#unwritten = this.#unwritten.slice(kept.length);
        throw error;
      }
      clearTimeout(this.#retrying);
      this.#retrying = setTimeout(() => this.#writeAgain(), retryInterval);
    }
  }

  #run(sql: string, ...values: readonly SQLInputValue[]): readonly Row[] {
    let statement = this.#statements.get(sql);
    if (!statement) {
      statement = this.database.prepare(sql);
      this.#statements.set(sql, statement);
    }
    return statement.all(...values);
  }

  meta(name: string): string | undefined {
    return optional(this.#run("select value from meta where name = ?", name)[0]?.value, textOf);
  }

  setMeta(name: string, value: string): void {
    this.write(() => this.#run("insert or replace into meta values (?, ?)", name, value));
  }

  /** Adds an entry to a history: with what is written next, or half a second later. */
  addEntry(entry: HistoryEntry): void {
    this.#entries.push(entry);
    this.#flushing ??= setTimeout(() => {
      this.#flushing = undefined;
      this.#flush();
    }, entryDelay);
  }

  #flush(): void {
    if (this.#entries.length > 0) this.keep(() => {});
  }

  #writeEntry(entry: HistoryEntry): void {
    const sql = "insert into entries (call_id, entry) values (?, ?)";
    this.#run(sql, entry.call_id, JSON.stringify(entry));
  }

  addCall({ id, side, params, limits, kept, url }: AcceptedCall, facts: CallFacts): void {
    const { from_number, to_number, initiated_at } = facts;
    this.#run(
      `insert into calls (id, side, params, limits, kept, url, facts, from_number, to_number, initiated_at)
       values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      id,
      JSON.stringify(side),
      JSON.stringify(params),
      JSON.stringify(limits),
      kept === undefined ? null : JSON.stringify(kept),
      url,
      JSON.stringify(facts),
      from_number,
      to_number,
      initiated_at,
    );
  }

  /** Keeps how far a call is. One that has rung was placed. */
  saveFacts(facts: CallFacts): void {
    const settled = facts.state === "initiated" ? 0 : 1;
    const sql = "update calls set facts = ?, ended_at = ?, settled = max(settled, ?) where id = ?";
    this.#run(sql, JSON.stringify(facts), facts.ended_at ?? null, settled, facts.id);
  }

  /** Keeps that no request for the telephone of a call is under way any more. */
  settle(id: string): void {
    this.#run("update calls set settled = 1 where id = ?", id);
  }

  /** Keeps that a channel holds the id of a call until a time, in milliseconds since 1970. */
  fence(id: string, until: number): void {
    this.#run("update calls set fenced_until = ? where id = ?", until, id);
  }

  fencedUntil(id: string): number {
    return Number(
      this.#run("select fenced_until from calls where id = ?", id)[0]?.fenced_until ?? 0,
    );
  }

  call(id: string): StoredRow | undefined {
    return optional(this.#run("select * from calls where id = ?", id)[0], (row) =>
      rowOf(row as Row),
    );
  }

  /** The calls that are not over, the oldest first. */
  get live(): readonly StoredRow[] {
    return this.#run("select * from calls where ended_at is null order by initiated_at").map(rowOf);
  }

  /** The latest calls that are over, the newest first. */
  ended(limit: number): readonly StoredRow[] {
    const sql = "select * from calls where ended_at is not null order by ended_at desc limit ?";
    return this.#run(sql, limit).map(rowOf);
  }

  historyOf(id: string): readonly HistoryEntry[] {
    const written = this.#run("select entry from entries where call_id = ? order by seq", id);
    const entries: readonly HistoryEntry[] = written.map(({ entry }) => parsed(entry));
    return [...entries, ...this.#entries.filter(({ call_id }) => call_id === id)];
  }

  record({ id, facts }: StoredRow): CallRecord {
    return { ...facts, history: this.historyOf(id) };
  }

  addNotification(
    side: SideName,
    call_id: string,
    { id, event, url, method, body, fixed }: StoredMessage,
    at: number,
  ): void {
    this.#run(
      `insert or ignore into notifications (id, call_id, side, event, url, method, body, fixed, made_at, next_at)
       values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      id,
      call_id,
      JSON.stringify(side),
      event,
      url,
      method,
      body,
      fixed ? JSON.stringify(fixed) : null,
      at,
      at,
    );
  }

  /** The ids of all notifications of a call. */
  notificationsOf(call_id: string): readonly string[] {
    return this.#run("select id from notifications where call_id = ? order by seq", call_id).map(
      ({ id }) => textOf(id),
    );
  }

  notification(id: string): StoredNotification | undefined {
    return this.#run("select * from notifications where id = ?", id).map(notificationOf)[0];
  }

  /** The notification of a call that is sent next. */
  pending(call_id: string): StoredNotification | undefined {
    const sql =
      "select * from notifications where call_id = ? and state = 'pending' order by seq limit 1";
    return this.#run(sql, call_id).map(notificationOf)[0];
  }

  /** The calls that have notifications to be sent. */
  get undelivered(): readonly string[] {
    const sql = "select distinct call_id from notifications where state = 'pending'";
    return this.#run(sql).map(({ call_id }) => textOf(call_id));
  }

  /** The notifications that were given up, or have failed so far: the newest first. */
  failed(limit: number): readonly StoredNotification[] {
    const sql = `select * from notifications where state <> 'delivered' and (state = 'given_up' or attempts > 0)
                 order by seq desc limit ?`;
    return this.#run(sql, limit).map(notificationOf);
  }

  saveNotification(id: string, progress: NotificationProgress, made_at?: number): void {
    const { state, attempts, next_at, status, error, response } = progress;
    this.#run(
      `update notifications set state = ?, attempts = ?, next_at = ?, status = ?, error = ?, response = ?,
         made_at = coalesce(?, made_at) where id = ?`,
      state,
      attempts,
      next_at,
      status ?? null,
      error ?? null,
      response ?? null,
      made_at ?? null,
      id,
    );
  }

  /** The keys of requests, by their digests. */
  readonly keys: IdempotencyKeys = {
    find: (key, body) => {
      const sql = "select body, call_id from keys where digest = ? and until > ?";
      const [row] = this.#run(sql, digestOf(key), Date.now());
      if (!row) return;
      const id = optional(row.call_id, textOf);
      return { id, lost: 0, isSame: row.body === bodyDigestOf(key, body) };
    },
    keep: (key, body, { id }) => {
      if (id === undefined) return;
      const now = Date.now();
      this.#run("delete from keys where until <= ?", now);
      const sql = "insert or ignore into keys (digest, body, call_id, until) values (?, ?, ?, ?)";
      this.#run(sql, digestOf(key), bodyDigestOf(key, body), id, now + keyLifetime);
    },
  };

  /** Forgets the key by which a call was asked for that was not placed: the next request with it may place it. */
  freeKey(call_id: string): void {
    this.#run("delete from keys where call_id = ?", call_id);
  }

  /**
   * Deletes all calls of a number that are over, and those in which a flow called it. Digests of keys stay.
   *
   * @returns the ids of the calls
   */
  erase(number: string): readonly string[] {
    return this.write(() => {
      const of = `ended_at is not null and (to_number = ?1 or from_number = ?1 or id in
        (select call_id from entries where json_extract(entry, '$.type') = 'leg' and json_extract(entry, '$.to') = ?1))`;
      const erased = this.#run(`select id from calls where ${of}`, number).map(({ id }) =>
        textOf(id),
      );
      for (const id of erased) {
        this.#run("delete from entries where call_id = ?", id);
        this.#run("delete from notifications where call_id = ?", id);
        this.#run("delete from calls where id = ?", id);
      }
      return erased;
    });
  }

  /** The key of the own interface, by its digest. */
  readonly keyKeeper = {
    key: "",
    accepts: (key: string): boolean => digestOf(key) === this.meta("key"),
    replace: (key: string): void => this.setMeta("key", digestOf(key)),
  };
}

/**
 * Opens the store of an exchange, or makes it: for this user alone.
 *
 * @throws {TypeError} when another process serves it, or a newer version has written it
 */
export const openStore = async (path: string): Promise<Store> => {
  const { DatabaseSync: Database } = await import("node:sqlite");
  closeSync(openSync(path, "a", 0o600));
  return new Store(new Database(path), new Database(`${path}-lock`));
};
