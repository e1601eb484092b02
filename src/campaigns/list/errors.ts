/**
 * A list can't be read as a whole: it is no CSV, or a column is missing or may have two meanings. The message names no
 * cell.
 *
 * @example Tell who has made the list
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
