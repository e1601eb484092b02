/** Why a ledger can't be used. */
export type LedgerReason =
  | "in_use"
  | "other_campaign"
  | "missing_secret"
  | "missing_service"
  | "newer"
  | "unknown_state"
  | "not_a_ledger"
  | "damaged"
  | "busy"
  | "closed"
  | "erased"
  | "erase_incomplete"
  | "not_durable"
  | "not_rolled_back";

const messages: Readonly<Record<LedgerReason, string>> = {
  in_use: "The ledger is in use: another process dials from it",
  other_campaign: "The ledger is that of another campaign: its flow, service or account is another",
  missing_secret:
    "People were erased from the ledger under another secret than those that are given, and would not be recognized: keep the old one in the list, after the new one",
  missing_service:
    "The ledger has calls that may be live at a service that services lacks: keep it in the list until they have ended",
  newer: "The ledger was written by a newer version of this package",
  unknown_state:
    "The ledger has a state of a contact that no version of this package writes: another program has changed it",
  not_a_ledger: "The database is not an outdial ledger",
  damaged:
    "The ledger is damaged: the file was copied while it was written, or without its -journal. Use the original file, with the -journal beside it",
  busy: "The ledger is busy: another program reads or writes the file",
  closed: "The campaign or its database is closed: open it again",
  erased: "One of the people was erased from the ledger, for good: nobody was unblocked",
  erase_incomplete:
    "The contacts are erased, but bytes of them may be left in the file: another program reads it, or the runtime forbids VACUUM, as Deno does without --allow-read and --allow-write as a whole",
  not_durable:
    "The database can't be made durable: it needs a rollback journal (journal_mode = TRUNCATE) and synchronous = FULL. Close the other programs that have it open",
  not_rolled_back:
    "The last transaction failed and can't be rolled back: close the database and open it again",
};

export const isLedgerReason = (value: unknown): value is LedgerReason =>
  typeof value === "string" && Object.hasOwn(messages, value);

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
  /** The literal name of the class, also in minified code. */
  override readonly name = "LedgerException" as const;
  /** Why the ledger can't be used. */
  readonly reason: LedgerReason;

  /**
   * An exception with the message of its reason.
   *
   * @param reason - why the ledger can't be used
   */
  constructor(reason: LedgerReason) {
    super(messages[reason]);
    this.reason = reason;
  }
}

/**
 * A list can't be read as a whole: it is no CSV, or a column is missing or may have two meanings. The message names no
 * cell.
 *
 * @example Report a list that can't be read
 * ```ts
 * import { ListException, readList } from "outdial/campaigns";
 *
 * const list = new Blob(["name,fax\nAda,none\n"]).stream();
 * try {
 *   for await (const contact of readList(list)) console.log(contact.line);
 * } catch (error) {
 *   if (error instanceof ListException) console.log(error.name); // ListException
 * }
 * ```
 */
export class ListException extends Error {
  /** The literal name of the class, also in minified code. */
  override readonly name = "ListException" as const;
}
