import { ListException } from "../errors.ts";

/** A row of a CSV file. */
export interface CsvRow {
  readonly cells: readonly string[];
  /** The line on which the row ends, from 1. */
  readonly line: number;
}

/** The bytes of a file, as they come. */
export type ListSource = ReadableStream<Uint8Array> | AsyncIterable<Uint8Array>;

/** The most characters of a row: otherwise a quote that is never closed takes the whole list into memory. */
const longestRow = 65_536;

const notCsv = (line: number, why: string): ListException =>
  new ListException(`the list is not CSV at line ${line}: ${why}`);

/** What a file is that begins with these bytes, and is no CSV in UTF-8. */
const otherFiles: readonly (readonly [start: readonly number[], what: string])[] = [
  [[0xff, 0xfe], "UTF-16"],
  [[0xfe, 0xff], "UTF-16"],
  [[0x50, 0x4b, 0x03, 0x04], "a workbook, such as of Excel"],
  [[0xd0, 0xcf, 0x11, 0xe0], "a workbook, such as of Excel"],
];

/** @throws {ListException} when the bytes are not those of a text in UTF-8 */
const checkKind = (bytes: Uint8Array): void => {
  const known = otherFiles.find(([start]) => start.every((byte, index) => bytes[index] === byte));
  const what = known?.[1] ?? (bytes.includes(0) ? "UTF-16, or no text" : undefined);
  if (what) throw new ListException(`the list is ${what}: save it as CSV in UTF-8`);
};

async function* chunksOf(source: ListSource): AsyncGenerator<Uint8Array, void> {
  if (!("getReader" in source)) {
    yield* source;
    return;
  }
  const reader = source.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    await reader.cancel();
  }
}

/** The text of a file, as it comes. */
async function* textOf(source: ListSource): AsyncGenerator<string, void> {
  const decoder = new TextDecoder();
  let start = new Uint8Array();
  let isChecked = false;
  for await (const chunk of chunksOf(source)) {
    if (isChecked) {
      yield decoder.decode(chunk, { stream: true });
      continue;
    }
    const joined = new Uint8Array(start.length + chunk.length);
    joined.set(start);
    joined.set(chunk, start.length);
    start = joined;
    if (start.length < 4) continue;
    checkKind(start);
    isChecked = true;
    yield decoder.decode(start, { stream: true });
  }
  if (!isChecked) {
    checkKind(start);
    yield decoder.decode(start, { stream: true });
  }
  yield decoder.decode();
}

/** A row as it is written, without its line end. */
interface Written {
  readonly text: string;
  readonly line: number;
}

/** The rows of a file as they are written. Line ends may be mixed; those in quotes end no row. */
async function* writtenRows(source: ListSource): AsyncGenerator<Written, void> {
  let pending = "";
  let scanned = 0;
  let isQuoted = false;
  let lines = 0;
  for await (const text of textOf(source)) {
    pending += text;
    let start = 0;
    let at = scanned;
    for (; at < pending.length; at++) {
      const character = pending[at];
      if (character === '"') isQuoted = !isQuoted;
      if (character !== "\n" && character !== "\r") continue;
      // The second half of a line end may be in the next piece.
      if (character === "\r" && at + 1 === pending.length) break;
      const length = character === "\r" && pending[at + 1] === "\n" ? 2 : 1;
      lines++;
      if (!isQuoted) {
        yield { text: pending.slice(start, at), line: lines };
        start = at + length;
      }
      at += length - 1;
    }
    pending = pending.slice(start);
    scanned = at - start;
    if (pending.length > longestRow) throw notCsv(lines + 1, "a row is too long: is a quote open?");
  }
  if (isQuoted) throw notCsv(lines + 1, "a quote is not closed");
  if (pending) yield { text: pending.replace(/\r$/, ""), line: lines + 1 };
}

/** The cells of a row that has quotes. */
const quotedCells = ({ text, line }: Written, delimiter: string): readonly string[] => {
  const cells: string[] = [];
  for (let from = 0; ; ) {
    let at = from;
    while (text[at] !== delimiter && /\s/.test(text[at] ?? "")) at++;
    let end = text.indexOf(delimiter, from);
    if (text[at] === '"') {
      let close = text.indexOf('"', at + 1);
      while (text[close + 1] === '"') close = text.indexOf('"', close + 2);
      end = text.indexOf(delimiter, close + 1);
      if (close < 0 || text.slice(close + 1, end < 0 ? undefined : end).trim()) {
        throw notCsv(line, "text follows a closing quote");
      }
      cells.push(text.slice(at + 1, close).replaceAll('""', '"'));
    } else {
      const cell = text.slice(from, end < 0 ? undefined : end).trim();
      if (cell.includes('"')) throw notCsv(line, "a quote stands inside a text without quotes");
      cells.push(cell);
    }
    if (end < 0) return cells;
    from = end + 1;
  }
};

const cellsOf = (row: Written, delimiter: string): readonly string[] =>
  row.text.includes('"')
    ? quotedCells(row, delimiter)
    : row.text.split(delimiter).map((cell) => cell.trim());

/** What is recognized between the columns of a list. */
const delimiters = [",", ";", "\t"];

/** The delimiter that a header uses most, outside quotes; `undefined` if two are used as often. */
const delimiterOf = (header: string): string | undefined => {
  const plain = header.replaceAll(/"[^"]*"/g, "");
  const counts = delimiters.map((each) => [each, plain.split(each).length - 1] as const);
  const most = Math.max(...counts.map(([, count]) => count));
  if (most === 0) return ",";
  const [first, second] = counts.filter(([, count]) => count === most);
  return second ? undefined : first?.[0];
};

/** The rows of a CSV file, and what separates its columns. */
export interface Csv {
  readonly delimiter: string;
  readonly rows: AsyncIterable<CsvRow>;
}

/**
 * Reads a CSV file: its first row has the names of the columns.
 *
 * @param given - what separates its columns; otherwise its `sep=` line says so, or its header shows it
 * @param option - how the exception names the option `given`
 * @returns `undefined` when there is no row
 * @throws {ListException} when it is no CSV; the rows throw it too
 */
export const readCsv = async (
  source: ListSource,
  given: string | undefined,
  option: string,
): Promise<Csv | undefined> => {
  const written = writtenRows(source);
  let named: string | undefined;
  for (let next = await written.next(); !next.done; next = await written.next()) {
    const header = next.value;
    const [, separator] = /^"?sep=(.)"?$/i.exec(header.text) ?? [];
    if (separator && named === undefined) {
      named = separator;
      continue;
    }
    if (!header.text.trim()) continue;
    const delimiter = given ?? named ?? delimiterOf(header.text);
    if (delimiter === undefined) {
      await written.return();
      throw new ListException(
        `more than one sign may separate the columns of the list: pass ${option}`,
      );
    }
    const rows = async function* (): AsyncGenerator<CsvRow, void> {
      try {
        yield { cells: cellsOf(header, delimiter), line: header.line };
        for await (const row of written) {
          if (row.text.trim()) yield { cells: cellsOf(row, delimiter), line: row.line };
        }
      } finally {
        // A reader that leaves at the header has not begun the loop, which would close the source.
        await written.return();
      }
    };
    return { delimiter, rows: rows() };
  }
  return;
};
