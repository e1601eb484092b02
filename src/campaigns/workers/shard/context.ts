import type { DurableStorage } from "../../sql/durable.ts";

/** What is used of a Durable Object's storage (`ctx.storage`), one with SQLite. */
export interface ShardStorage extends DurableStorage {
  /** When the object is woken next, in milliseconds since 1970. */
  getAlarm(): Promise<number | null>;
  /** Has the object woken then, once. */
  setAlarm(at: number): Promise<void>;
  /** Has it woken no more. */
  deleteAlarm(): Promise<void>;
}

/** What is used of a Durable Object's state (`ctx`). */
export interface ShardContext {
  /** The object's own SQLite, and its alarm. */
  readonly storage: ShardStorage;
  /** Lets no request in until the work is done. */
  blockConcurrencyWhile<T>(work: () => Promise<T>): Promise<T>;
}
