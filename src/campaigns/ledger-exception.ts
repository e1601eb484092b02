/** Why a ledger can't be used. */
export type LedgerReason =
  | "in_use"
  | "other_campaign"
  | "newer"
  | "not_a_ledger"
  | "log_missing"
  | "not_scrubbed"
  | "not_durable";

const messages: Readonly<Record<LedgerReason, string>> = {
  in_use: "The ledger is in use: another process dials from it",
  other_campaign: "The ledger is that of another campaign: its sender, flow or service is another",
  newer: "The ledger was written by a newer version of this package",
  not_a_ledger: "The database is none that this package has made",
  log_missing:
    "The ledger lacks its log: the file was copied, moved or linked without its -wal, or that was deleted, and the claims in it are not known here",
  not_scrubbed:
    "The contacts are erased, but bytes of them may be left in the file: somebody reads it, or the runtime forbids VACUUM, as Deno does without --allow-read and --allow-write as a whole",
  not_durable: "The database can't be made durable: it needs WAL and synchronous FULL",
};

/**
 * The ledger of a campaign can't be used as it is. No call was begun for it.
 *
 * @example Refuse a second process by its reason
 * ```ts
 * import { LedgerException } from "outdial/campaigns";
 *
 * const error = new LedgerException("in_use");
 * console.log(error.name, error.reason); // LedgerException in_use
 * ```
 */
export class LedgerException extends Error {
  /** The literal name of the class, whole even in minified code. */
  override readonly name = "LedgerException" as const;
  /** Why. */
  readonly reason: LedgerReason;

  /**
   * Says what is wrong with the ledger, in our own words.
   *
   * @param reason - why; it decides about the message
   */
  constructor(reason: LedgerReason) {
    super(messages[reason]);
    this.reason = reason;
  }
}
