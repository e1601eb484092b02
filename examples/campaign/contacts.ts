import { CsvError, parse } from "csv-parse/browser/esm";
import type { Contact } from "outdial/campaigns";

/** The usual names of the column with the telephone. */
const numberColumns = ["to_number", "phone_number", "number", "contact_number", "phone"];

/** What is wrong with a list as a whole. */
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

/** A row by its columns, and the line that it ends on. */
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

/** Feeds the parser as fast as it takes it, and no faster. */
const feed = async (body: ReadableStream<Uint8Array>, rows: ReturnType<typeof parse>) => {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      if (!rows.write(value)) await new Promise((resolve) => rows.once("drain", resolve));
    }
    rows.end();
  } catch (error) {
    rows.destroy(error instanceof Error ? error : new ListError("The list broke off"));
  }
};

/** What the parser gives, as fast as it is taken. */
const streamOf = (rows: ReturnType<typeof parse>): ReadableStream<Line> =>
  new ReadableStream({
    start: (controller) => {
      rows.on("data", (line: Line) => {
        controller.enqueue(line);
        if ((controller.desiredSize ?? 0) <= 0) rows.pause();
      });
      rows.on("end", () => controller.close());
      rows.on("error", (error) => controller.error(error));
    },
    pull: () => void rows.resume(),
    cancel: () => void rows.destroy(),
  });

/**
 * The contacts of a CSV, one after the other, as they arrive.
 *
 * @throws {ListError} when it is none
 */
export async function* contactsIn(body: ReadableStream<Uint8Array>): AsyncGenerator<Contact, void> {
  const rows = parse({
    bom: true,
    columns: columnsOf,
    info: true,
    relax_column_count: true,
    skip_empty_lines: true,
    trim: true,
  });
  feed(body, rows);
  try {
    for await (const line of streamOf(rows)) yield contactOf(line);
  } catch (error) {
    if (error instanceof CsvError) {
      throw new ListError(`The list is no CSV at line ${error.lines ?? "?"} (${error.code})`);
    }
    throw error;
  }
}
