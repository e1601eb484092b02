import { CsvError, parse } from "csv-parse/stream";
import type { Contact } from "outdial/campaigns";

/** Names of the column with the telephone number. */
const numberColumns = ["to_number", "phone_number", "number", "contact_number", "phone"];

/** An invalid list. */
export class ListError extends Error {}

const columnOf = (title: string): string =>
  title
    .trim()
    .toLowerCase()
    .replaceAll(/[\s-]+/g, "_");

const columnsOf = (header: readonly string[]): string[] => {
  const columns = header.map(columnOf);
  if (!columns.some((name) => numberColumns.includes(name))) {
    throw new ListError(`The list has no column ${numberColumns.join(", ")}`);
  }
  return columns;
};

/** A row by its columns, and the line on which it ends. */
interface Line {
  readonly record: Readonly<Record<string, string>>;
  readonly info: { readonly lines: number };
}

const contactOf = ({ record, info }: Line): Contact => {
  const name = numberColumns.find((each) => record[each] !== undefined) ?? "";
  const { [name]: to_number = "", id, timezone, ...variables } = record;
  return {
    to_number,
    ...(id && { id }),
    ...(timezone && { timezone }),
    variables,
    line: info.lines,
  };
};

/**
 * Reads the contacts of a CSV stream.
 *
 * @throws {ListError} if it is not CSV
 */
export async function* contactsIn(body: ReadableStream<Uint8Array>): AsyncGenerator<Contact, void> {
  const rows = parse({
    bom: true,
    columns: columnsOf,
    info: true,
    // Otherwise a missing quote would load the whole list into memory.
    max_record_size: 65_536,
    relax_column_count: true,
    skip_empty_lines: true,
    trim: true,
  });
  const lines: ReadableStream<Line> = body.pipeThrough(rows);
  try {
    for await (const line of lines) yield contactOf(line);
  } catch (error) {
    if (error instanceof CsvError) {
      throw new ListError(`The list is no CSV at line ${error.lines ?? "?"} (${error.code})`);
    }
    throw error;
  }
}
