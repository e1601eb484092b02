import { is } from "valibot";
import { CallParams } from "../../calls/params.ts";
import type { Contact, RefusedContact } from "../contacts.ts";
import { ListException } from "../errors.ts";
import type { ListOptions, NumberReading } from "./columns.ts";
import {
  columnsOf,
  flagText,
  type ListColumns,
  optionText as plainOption,
  quotedName,
  unanswered,
} from "./columns.ts";
import { type CsvRow, type ListSource, readCsv } from "./csv.ts";
import { FlagColumns } from "./flag-columns.ts";

const delimiterNames: Readonly<Record<string, string>> = { ",": "comma", ";": "semicolon" };

/** What a cell of an opt-out column may say without blocking its row. */
const callable = /^(false|no|n|0|)$/;

/** Whether a cell of an opt-out column blocks its row; in quotes it may have spaces around it. */
const isBlocking = (cell: string, values: readonly string[] | undefined): boolean => {
  const text = flagText(cell);
  return values ? values.includes(text) : !callable.test(text);
};

/** How many rows are read before the first contact is given: by then most columns that say yes or no have said it. */
const firstRows = 1_000;

const asItIs = (cell: string): NumberReading =>
  cell ? { number: cell } : { reason: "is missing" };

const garbled = (optionText: NonNullable<ListOptions["optionText"]>): string =>
  `has bytes that are no text: save the list as UTF-8, or pass ${optionText("encoding", "windows-1252")}`;

/**
 * The number that a row with more or fewer cells than the header blocks: nobody is called by it, but another row may have
 * the number. A delimiter that is not quoted shifts the cells behind it; before a line break all are in their places.
 */
const blockedByOddRow = (
  cells: readonly string[],
  { header, number: at, optOut, optOutValues }: ListColumns,
  read: (cell: string) => NumberReading,
): string | undefined => {
  const extra = Math.max(0, cells.length - header.length);
  for (let shift = 0; shift <= extra; shift++) {
    const { number } = read(cells[at + shift] ?? "");
    const isBlocked = optOut.some((index) => {
      const [first, last] = index > at ? [shift, extra] : [0, shift];
      const may = cells.slice(index + first, index + last + 1);
      const values = optOutValues.get(index);
      // One of these cells is the column's. Where values are named, it is one that has them; otherwise any text blocks.
      if (values) return may.some((cell) => isBlocking(cell, values));
      return may.length > 0 && may.every((cell) => isBlocking(cell, undefined));
    });
    if (isBlocked && is(CallParams.entries.to_number, number)) return number;
  }
  return;
};

const contactOf = (
  { cells, line, delimiter, isGarbled }: CsvRow,
  columns: ListColumns,
  read: (cell: string) => NumberReading,
  optionText: NonNullable<ListOptions["optionText"]>,
): Contact | RefusedContact => {
  const { header, number: at, id: idAt, timezone: zoneAt, callAt, from, optOut } = columns;
  if (cells.length !== header.length) {
    const to_number = blockedByOddRow(cells, columns, read);
    if (to_number !== undefined) return { to_number, doNotCall: true, line };
  }
  // A delimiter that is not quoted shifts the cells, and another number would be dialled; the last may be empty.
  if (cells.length > header.length) {
    const sign = delimiterNames[delimiter] ?? "delimiter";
    return { line, reason: `has more cells than the header: quote a text that contains a ${sign}` };
  }
  // A line break that is not quoted ends the row early, and its time zone would be missing.
  if (cells.length < header.length) {
    return { line, reason: "has fewer cells than the header: quote a text with a line break" };
  }
  const { number, reason } = read(cells[at] ?? "");
  const cellAt = (index: number | undefined): string =>
    index === undefined ? "" : (cells[index] ?? "");
  const id = cellAt(idAt);
  const timezone = cellAt(zoneAt);
  const call_at = cellAt(callAt);
  const sender = cellAt(from);
  const from_number = sender ? read(sender) : undefined;
  const doNotCall = optOut.some((index) =>
    isBlocking(cellAt(index), columns.optOutValues.get(index)),
  );
  const isWrong = isGarbled || from_number?.reason !== undefined;
  // Nobody is called by this row, but another one may have the number, or the id.
  if (isWrong && doNotCall && number !== undefined) {
    const own = { ...(id && { id }), ...(timezone && { timezone }) };
    return { to_number: number, ...own, doNotCall, line };
  }
  // A campaign refuses this row by its number, and calls no other number of its id.
  if (number === undefined && doNotCall && id) {
    return { to_number: cells[at] ?? "", id, doNotCall, line };
  }
  // Somebody's name would be said wrongly, or a telephone be another one.
  if (isGarbled) return { line, reason: garbled(optionText) };
  if (number === undefined) return { line, reason: `to_number ${reason}` };
  if (from_number?.reason) return { line, reason: `from_number ${from_number.reason}` };
  return {
    to_number: number,
    ...(id && { id }),
    ...(timezone && { timezone }),
    ...(call_at && { call_at }),
    ...(from_number && { from_number: from_number.number }),
    ...(doNotCall && { doNotCall }),
    variables: Object.fromEntries(
      [...columns.variables].map(([name, index]) => [name, cells[index] ?? ""]),
    ),
    line,
  };
};

/**
 * Reads the contacts of a CSV file, as they are taken, for `sync` and `add`. Its first row names the columns: the
 * telephone, and if there are such `id`, `timezone`, `call_at`, `from_number` and variables. A
 * row that may mean another number than it seems to is refused: one with more or fewer cells than the header. If it says
 * that its number must not be called, it is a contact with `doNotCall`.
 *
 * A row that says so, has an id and no number that can be read is a contact with the cell as its `to_number`: a campaign
 * refuses it, and `sync` blocks the other numbers of its id.
 *
 * A column that nothing uses and that has only a few short values, or dates, may say who must not be called: the list is
 * refused until an option answers for it. What says yes or no in words is found before the first contact is given, if it is within 1,000
 * rows, and all others at the end: `sync` has changed nothing then.
 *
 * @param source - the file's bytes, such as the body of a request, or `createReadStream(file)` of Node
 * @throws {ListException} when it is no CSV, or a column is missing or may have two meanings; what came before was taken
 *
 * @example Take a list that somebody uploads
 * ```ts
 * import { readList } from "outdial/campaigns";
 *
 * const upload = new Blob(["Phone;Name;opt_out\n+12025550100;Ada;\n+12025550101;Bob;yes\n"]);
 * const blocked: string[] = [];
 * for await (const contact of readList(upload.stream(), { optOutColumns: ["opt_out"] })) {
 *   if (contact.doNotCall) blocked.push(contact.to_number);
 * }
 * console.log(blocked.join()); // +12025550101
 * ```
 * @see docs/at-scale.md
 */
export async function* readList(
  source: ListSource,
  options: ListOptions = {},
): AsyncGenerator<Contact, void> {
  const { delimiter, encoding, readNumber = asItIs, onColumns, onRefused, onWarning } = options;
  const { optionText = plainOption } = options;
  const pieces = readCsv(source, { delimiter, encoding, optionText });
  let columns: ListColumns | undefined;
  let flags = new FlagColumns([]);
  /** The columns that block by some values, of which no cell had one so far. */
  let unmatched = new Map<number, readonly string[]>();
  const requireAnswers = (indexes: readonly number[]): void => {
    const names = indexes.map((index) => columns?.header[index] ?? "");
    if (names.length > 0) throw unanswered(names, options);
  };
  /** The contacts of the first rows, until these are read. */
  let first: Contact[] | undefined = [];
  let rowCount = 0;
  for await (const rows of pieces) {
    for (const row of rows) {
      if (!columns) {
        if (row.isGarbled) throw new ListException(`the first line ${garbled(optionText)}`);
        columns = columnsOf(row.cells, options);
        flags = new FlagColumns(columns.open);
        unmatched = new Map(columns.optOutValues);
        onColumns?.(columns);
        continue;
      }
      if (row.cells.length === columns.header.length) flags.add(row.cells);
      for (const [index, values] of unmatched) {
        if (isBlocking(row.cells[index] ?? "", values)) unmatched.delete(index);
      }
      const contact = contactOf(row, columns, readNumber, optionText);
      if ("reason" in contact) onRefused?.(contact);
      else if (first) first.push(contact);
      else yield contact;
      if (!first || ++rowCount < firstRows) continue;
      requireAnswers(flags.marked);
      yield* first;
      first = undefined;
    }
  }
  if (!columns) throw new ListException("the list is empty: its first line must name the columns");
  requireAnswers(flags.all);
  if (unmatched.size > 0) {
    const names = [...unmatched.keys()].map((index) => quotedName(columns?.header[index] ?? ""));
    onWarning?.(
      `no cell of ${names.join(", ")} has the value of ${optionText("optOutColumns")}: no row is blocked by it`,
    );
  }
  if (first) yield* first;
}
