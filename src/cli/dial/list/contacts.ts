import { closeSync, createReadStream, openSync } from "node:fs";
import { CsvError, parse } from "csv-parse/stream";
import type { Contact, RefusedContact } from "../../../campaigns/index.ts";
import { UsageError } from "../../command/failure.ts";
import type { Read } from "./numbers.ts";

/** The usual names of the column with the telephone. */
const numberColumns = ["to_number", "phone_number", "number", "contact_number", "phone"];

/** A row by its columns, and the line that it ends on. */
interface Line {
  readonly record: Readonly<Record<string, string>>;
  readonly info: { readonly lines: number };
}

const contactOf = (
  { record, info: { lines: line } }: Line,
  read: Read,
): Contact | RefusedContact => {
  const name = numberColumns.find((each) => record[each] !== undefined) ?? "";
  const { [name]: text = "", id, timezone, ...variables } = record;
  const { number, reason } = read(text);
  if (number === undefined) return { line, reason: `to_number ${reason}` };
  return {
    to_number: number,
    ...(id && { id }),
    ...(timezone && { timezone }),
    variables,
    line,
  };
};

/** The name of a column as contacts have it. */
export const columnOf = (name: string): string =>
  name
    .trim()
    .toLowerCase()
    .replace(/[\s-]+/g, "_");

const columnsOf = (header: readonly string[], required: readonly string[]): string[] => {
  const columns = header.map(columnOf);
  if (!columns.some((name) => numberColumns.includes(name))) {
    const isOther = columns.length === 1 && /[;\t|]/.test(header[0] ?? "");
    const hint = isOther ? "; its columns must be separated by commas" : "";
    throw new UsageError(`the list has no column ${numberColumns.join(", ")}${hint}`);
  }
  const missing = required.filter((name) => !columns.includes(name));
  if (missing.length === 0) return columns;
  throw new UsageError(`--variables names what is no column of the list: ${missing.join(", ")}`);
};

/** Gives a file to a stream, and its error too. */
const feed = async (stream: WritableStream<Uint8Array>, file: string): Promise<void> => {
  const writer = stream.getWriter();
  try {
    for await (const chunk of createReadStream(file)) await writer.write(chunk);
    await writer.close();
  } catch (error) {
    await writer.abort(error).catch(() => {});
  }
};

/** How a list is read. */
export interface Reading {
  readonly read: Read;
  /** Columns that it must have. */
  readonly required?: readonly string[];
  /** Is told of each row that has not exactly one number. */
  readonly refuse: (contact: RefusedContact) => void;
}

/**
 * The contacts of a CSV file, one after the other.
 *
 * @throws {UsageError} when it can't be read
 */
export async function* contactsIn(
  file: string,
  { read, required = [], refuse }: Reading,
): AsyncGenerator<Contact, void> {
  const rows = parse({
    bom: true,
    columns: (header: readonly string[]) => columnsOf(header, required),
    info: true,
    // A quote that is never closed would take the whole list into memory.
    max_record_size: 65_536,
    relax_column_count: true,
    skip_empty_lines: true,
    trim: true,
  });
  const lines: ReadableStream<Line> = rows.readable;
  feed(rows.writable, file);
  try {
    for await (const line of lines) {
      const contact = contactOf(line, read);
      if ("reason" in contact) refuse(contact);
      else yield contact;
    }
  } catch (error) {
    throw error instanceof CsvError
      ? new UsageError(`the list is no CSV at line ${error.lines ?? "?"} (${error.code})`)
      : readingFailed("the list", error);
  }
}

/** Why a file can't be read, without its name: it may be anything. */
export const readingFailed = (what: string, error: unknown): unknown => {
  const { code } = Object(error);
  return typeof code === "string" ? new UsageError(`${what} can't be read (${code})`) : error;
};

/** @throws {UsageError} when a file can't be opened */
export const requireReadable = (what: string, file: string): void => {
  try {
    closeSync(openSync(file, "r"));
  } catch (error) {
    throw readingFailed(what, error);
  }
};
