import { createReadStream } from "node:fs";
import { CsvError, parse } from "csv-parse/stream";
import type { Contact } from "../../../campaigns/index.ts";
import { UsageError } from "../../command/failure.ts";
import type { Normalise } from "./numbers.ts";

/** The usual names of the column with the telephone. */
const numberColumns = ["to_number", "phone_number", "number", "contact_number", "phone"];

/** A row by its columns, and the line that it ends on. */
interface Line {
  readonly record: Readonly<Record<string, string>>;
  readonly info: { readonly lines: number };
}

const contactOf = ({ record, info }: Line, normalise: Normalise): Contact => {
  const name = numberColumns.find((each) => record[each] !== undefined) ?? "";
  const { [name]: number = "", id, timezone, ...variables } = record;
  return {
    to_number: normalise(number),
    ...(id && { id }),
    ...(timezone && { timezone }),
    variables,
    line: info.lines,
  };
};

/** The name of a column as contacts have it. */
export const columnOf = (name: string): string =>
  name
    .trim()
    .toLowerCase()
    .replace(/[\s-]+/g, "_");

const columnsOf = (header: readonly string[]): string[] => {
  const columns = header.map(columnOf);
  if (!columns.some((name) => numberColumns.includes(name))) {
    throw new UsageError(`the list has no column ${numberColumns.join(", ")}`);
  }
  return columns;
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

/**
 * The contacts of a CSV file, one after the other.
 *
 * @throws {UsageError} when it can't be read
 */
export async function* contactsIn(
  file: string,
  normalise: Normalise,
): AsyncGenerator<Contact, void> {
  const rows = parse({
    bom: true,
    columns: columnsOf,
    info: true,
    relax_column_count: true,
    skip_empty_lines: true,
    trim: true,
  });
  const lines: ReadableStream<Line> = rows.readable;
  feed(rows.writable, file);
  try {
    for await (const line of lines) yield contactOf(line, normalise);
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
