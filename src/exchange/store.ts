import type { DatabaseSync } from "node:sqlite";

/** The file of an exchange. Other tables of the exchange are made by their owners, by `CREATE TABLE IF NOT EXISTS`. */
export interface Store {
  readonly database: DatabaseSync;
  /** Whether there is a key of the own interface: else `regenerateKey` makes the first. */
  readonly hasKey: boolean;
  readonly close: () => void;
}
