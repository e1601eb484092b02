import { closeSync, createReadStream, openSync } from "node:fs";
import { CsvError, parse } from "csv-parse/stream";
import type { Contact, RefusedContact } from "../../campaigns/index.ts";
import { UsageError } from "../command.ts";
import { codeOf } from "../terminal.ts";
import type { ReadNumber } from "./numbers.ts";

/** Headers are compared without case, spaces, `-` and `_`: `Time Zone` is `timezone`. */
const keyOf = (header: string): string => header.toLowerCase().replace(/[\s_-]+/g, "");

/** The usual headers of the column with the telephone. `number` may be anything, so it counts only without them. */
const numberKeys = ["tonumber", "phonenumber", "contactnumber", "phone"];
const zoneKeys = ["timezone", "tz"];

/** Which column of a list means what, as indexes. */
export interface Columns {
  readonly header: readonly string[];
  readonly number: number;
  readonly id: number | undefined;
  readonly timezone: number | undefined;
  /** By the name of the variable. */
  readonly variables: ReadonlyMap<string, number>;
}

/** What the command line says about columns. */
interface ColumnChoice {
  readonly numberColumn?: string | undefined;
  readonly zoneColumn?: string | undefined;
  /** Names of variables that the list must have. */
  readonly variables: readonly string[];
}

/** The name of a variable: `First Name` is `first_name`. */
export const variableName = (text: string): string =>
  text
    .trim()
    .toLowerCase()
    .replace(/[\s-]+/g, "_");

/** What looks like a telephone number: a list without a header has one where a name should be. */
const telephone = /[+(]*\d(?:[\s()./-]*\d){6,}/g;

const quotedName = (name: string): string => `"${name.replace(telephone, "***")}"`;

const quoted = (names: readonly string[]): string => names.map(quotedName).join(", ");

/** @throws {UsageError} if two columns have one name */
const checkDistinct = (header: readonly string[]): void => {
  const seen = new Map<string, string>();
  for (const name of header) {
    const key = keyOf(name);
    const other = seen.get(key);
    if (key && other !== undefined) {
      throw new UsageError(`two columns of the list have one name: ${quoted([other, name])}`);
    }
    seen.set(key, name);
  }
};

/**
 * Assigns the columns of a list.
 *
 * @throws {UsageError} if a column is missing, or two have one meaning
 */
export const columnsOf = (
  header: readonly string[],
  { numberColumn, zoneColumn, variables }: ColumnChoice,
): Columns => {
  checkDistinct(header);
  const keys = header.map(keyOf);
  const find = (name: string): number | undefined => {
    const index = keys.indexOf(keyOf(name));
    return index < 0 ? undefined : index;
  };
  const chosen = (flag: string, name: string): number => {
    const index = find(name);
    if (index === undefined) throw new UsageError(`--${flag} is not a column of the list`);
    return index;
  };
  const only = (meaning: string, known: readonly string[], flag: string): number | undefined => {
    const found = keys.flatMap((key, index) => (known.includes(key) ? [index] : []));
    if (found.length < 2) return found[0];
    const names = quoted(found.map((index) => header[index] ?? ""));
    throw new UsageError(`more than one column is a ${meaning}: ${names}; choose with --${flag}`);
  };
  const number =
    numberColumn === undefined
      ? (only("telephone number", numberKeys, "number-column") ?? find("number"))
      : chosen("number-column", numberColumn);
  if (number === undefined) {
    const isOther = header.length === 1 && /[;\t|]/.test(header[0] ?? "");
    const hint = isOther
      ? "; its columns must be separated by commas"
      : "; name it with --number-column";
    throw new UsageError(
      `the list has no column to_number, phone_number, contact_number, phone or number${hint}`,
    );
  }
  const id = find("id");
  const timezone =
    zoneColumn === undefined
      ? only("time zone", zoneKeys, "zone-column")
      : chosen("zone-column", zoneColumn);
  const missing = variables.filter((name) => find(name) === undefined);
  if (missing.length > 0) {
    throw new UsageError(`--variables names no column of the list: ${missing.join(", ")}`);
  }
  return {
    header,
    number,
    id: id === number ? undefined : id,
    timezone,
    variables: new Map(variables.map((name) => [name, keys.indexOf(keyOf(name))])),
  };
};

/** Most names that the plan lists as unused. */
const mostNames = 12;

/** The columns that are used, for the plan. */
export const describeColumns = ({ header, number, id, timezone, variables }: Columns): string => {
  const from = (what: string, index: number | undefined): readonly string[] =>
    index === undefined ? [] : [`${what} from ${quotedName(header[index] ?? "")}`];
  const used = new Set([number, id, timezone, ...variables.values()]);
  const unused = header.filter((name, index) => name && !used.has(index));
  const more = unused.length > mostNames ? ` and ${unused.length - mostNames} more` : "";
  return [
    [
      ...from("number", number),
      ...from("id", id),
      ...(timezone === undefined ? ["no time zone column"] : from("time zone", timezone)),
      ...[...variables].flatMap(([name, index]) => from(`variable ${name}`, index)),
    ].join(", "),
    ...(unused.length > 0 ? [`not used: ${quoted(unused.slice(0, mostNames))}${more}`] : []),
  ].join("; ");
};

/** A row, and the line that it ends on. */
interface CsvRow {
  readonly record: readonly string[];
  readonly info: { readonly lines: number };
}

const contactOf = (
  { record, info: { lines: line } }: CsvRow,
  { header, number: at, id: idAt, timezone: zoneAt, variables }: Columns,
  read: ReadNumber,
): Contact | RefusedContact => {
  // A comma that is not quoted shifts the cells, and another number would be dialled.
  if (record.slice(header.length).some(Boolean)) {
    return { line, reason: "has more cells than the header: quote a text that contains a comma" };
  }
  // A line break that is not quoted ends the row early, and its time zone would be missing.
  if (record.length < header.length) {
    return { line, reason: "has fewer cells than the header: quote a text with a line break" };
  }
  const { number, reason } = read(record[at] ?? "");
  if (number === undefined) return { line, reason: `to_number ${reason}` };
  const id = idAt === undefined ? "" : record[idAt];
  const timezone = zoneAt === undefined ? "" : record[zoneAt];
  return {
    to_number: number,
    ...(id && { id }),
    ...(timezone && { timezone }),
    variables: Object.fromEntries(
      [...variables].map(([name, index]) => [name, record[index] ?? ""]),
    ),
    line,
  };
};

/** Pipes a file into a stream, its error included. */
const feed = async (stream: WritableStream<Uint8Array>, file: string): Promise<void> => {
  const writer = stream.getWriter();
  try {
    for await (const chunk of createReadStream(file)) await writer.write(chunk);
    await writer.close();
  } catch (error) {
    await writer.abort(error).catch(() => {});
  }
};

interface ListOptions extends ColumnChoice {
  readonly read: ReadNumber;
  /** Called with the columns, before the first contact. */
  readonly onColumns: (columns: Columns) => void;
  /** Called with each row that is not a contact. */
  readonly onRefused: (contact: RefusedContact) => void;
}

/**
 * The contacts of a CSV file, read as they are taken.
 *
 * @throws {UsageError} if the file cannot be read, or lacks a column
 */
export async function* readContacts(
  file: string,
  { read, onColumns, onRefused, ...choice }: ListOptions,
): AsyncGenerator<Contact, void> {
  const rows = parse({
    bom: true,
    info: true,
    // Otherwise a quote that is never closed takes the whole list into memory.
    max_record_size: 65_536,
    relax_column_count: true,
    skip_empty_lines: true,
    trim: true,
  });
  const lines: ReadableStream<CsvRow> = rows.readable;
  feed(rows.writable, file);
  let columns: Columns | undefined;
  try {
    for await (const row of lines) {
      if (!columns) {
        columns = columnsOf(row.record, choice);
        onColumns(columns);
        continue;
      }
      const contact = contactOf(row, columns, read);
      if ("reason" in contact) onRefused(contact);
      else yield contact;
    }
  } catch (error) {
    throw error instanceof CsvError
      ? new UsageError(`the list is not CSV at line ${error.lines ?? "?"} (${error.code})`)
      : readError("the list", error);
  }
  if (!columns) throw new UsageError("the list is empty: its first line must name the columns");
}

/** The error of a file that cannot be read, without its name: that may be anything. */
export const readError = (what: string, error: unknown): unknown => {
  const code = error instanceof UsageError ? undefined : codeOf(error);
  return code ? new UsageError(`${what} cannot be read (${code})`) : error;
};

/** @throws {UsageError} if a file cannot be opened */
export const requireReadable = (what: string, file: string): void => {
  try {
    closeSync(openSync(file, "r"));
  } catch (error) {
    throw readError(what, error);
  }
};
