import { joined } from "../../lib/encoding.ts";
import { ListException } from "../errors.ts";

/** A row of a CSV file. */
export interface CsvRow {
  readonly cells: readonly string[];
  /** The line on which the row ends, from 1. */
  readonly line: number;
  /** What separates its cells. */
  readonly delimiter: string;
  /** Whether it has bytes that are no text in the encoding of the file. */
  readonly isGarbled: boolean;
}

/** How the bytes of a list are read, and how exceptions name these options. */
interface CsvOptions {
  /** What separates the columns; otherwise the file's `sep=` line says so, or its header shows it. */
  readonly delimiter: string | undefined;
  readonly encoding: string | undefined;
  readonly optionText: (option: "delimiter" | "encoding", value?: string) => string;
}

/** The bytes of a file, as they come. */
export type ListSource = ReadableStream<Uint8Array> | AsyncIterable<Uint8Array>;

/** The most characters of a row: otherwise a quote that is never closed takes the whole list into memory. */
const longestRow = 65_536;

const notCsv = (line: number, why: string): ListException =>
  new ListException(`the list is not CSV at line ${line}: ${why}`);

/** What a file is that begins with these bytes, and is no CSV in UTF-8, and by which encoding it can be read. */
const otherFiles: readonly (readonly [
  start: readonly number[],
  what: string,
  encoding?: string,
])[] = [
  [[0xff, 0xfe], "UTF-16", "utf-16le"],
  [[0xfe, 0xff], "UTF-16", "utf-16be"],
  [[0x50, 0x4b, 0x03, 0x04], "a workbook, such as of Excel"],
  [[0xd0, 0xcf, 0x11, 0xe0], "a workbook, such as of Excel"],
];

/** @throws {ListException} when the bytes are not those of a text in UTF-8 */
const checkKind = (bytes: Uint8Array, { encoding, optionText }: CsvOptions): void => {
  const format = otherFiles.find(([start]) => start.every((byte, index) => bytes[index] === byte));
  const [, kind, readable] = format ?? [];
  // What is read as UTF-16 has zeros, and begins with its mark.
  if (encoding !== undefined && (!format || readable)) return;
  const what = kind ?? (bytes.includes(0) ? "UTF-16, or no text" : undefined);
  const other = readable ? `, or pass ${optionText("encoding", readable)}` : "";
  if (what) throw new ListException(`the list is ${what}: save it as CSV in UTF-8${other}`);
};

/** @throws {ListException} when this runtime doesn't know the encoding */
const decoderOf = ({ encoding, optionText }: CsvOptions): TextDecoder => {
  try {
    return new TextDecoder(encoding);
  } catch {
    throw new ListException(
      `${optionText("encoding")} must be an encoding that TextDecoder knows, such as windows-1252`,
    );
  }
};

/** Stands in a text for bytes that are none. */
const replacement = "\ufffd";

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
async function* textOf(source: ListSource, options: CsvOptions): AsyncGenerator<string, void> {
  const decoder = decoderOf(options);
  let start = new Uint8Array();
  let isChecked = false;
  for await (const chunk of chunksOf(source)) {
    if (isChecked) {
      yield decoder.decode(chunk, { stream: true });
      continue;
    }
    start = joined([start, chunk]);
    if (start.length < 4) continue;
    checkKind(start, options);
    isChecked = true;
    yield decoder.decode(start, { stream: true });
  }
  if (!isChecked) {
    checkKind(start, options);
    yield decoder.decode(start, { stream: true });
  }
  yield decoder.decode();
}

/** A row as it is written, without its line end. */
interface Written {
  readonly text: string;
  readonly line: number;
}

/** Finds the rows of a text that comes in pieces. Line ends may be mixed; those in quotes end no row. */
class RowScanner {
  #pending = "";
  #scanned = 0;
  #isQuoted = false;
  #lines = 0;

  /** The rows that end in the next piece. All must be taken before the piece after it is given. */
  *in(piece: string): Generator<Written, void> {
    const text = this.#pending + piece;
    let start = 0;
    let at = this.#scanned;
    for (; at < text.length; at++) {
      const character = text[at];
      if (character === '"') this.#isQuoted = !this.#isQuoted;
      if (character !== "\n" && character !== "\r") continue;
      // The second half of a line end may be in the next piece.
      if (character === "\r" && at + 1 === text.length) break;
      const length = character === "\r" && text[at + 1] === "\n" ? 2 : 1;
      this.#lines++;
      if (!this.#isQuoted) {
        yield { text: text.slice(start, at), line: this.#lines };
        start = at + length;
      }
      at += length - 1;
    }
    this.#pending = text.slice(start);
    this.#scanned = at - start;
    if (this.#pending.length <= longestRow) return;
    throw notCsv(this.#lines + 1, "a row is too long: is a quote open?");
  }

  /** The row that the end of the text ends. */
  *last(): Generator<Written, void> {
    if (this.#isQuoted) throw notCsv(this.#lines + 1, "a quote is not closed");
    if (!this.#pending) return;
    yield { text: this.#pending.replace(/\r$/, ""), line: this.#lines + 1 };
  }
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

/**
 * Reads a CSV file. Its rows come in the pieces of the source, since each wait costs more than a row; the first has the
 * names of the columns.
 *
 * @throws {ListException} when it is no CSV: the rows throw it
 */
export async function* readCsv(
  source: ListSource,
  options: CsvOptions,
): AsyncGenerator<Iterable<CsvRow>, void> {
  const { delimiter: given, optionText } = options;
  const scanner = new RowScanner();
  let named: string | undefined;
  let delimiter: string | undefined;
  function* rowsOf(written: Iterable<Written>): Generator<CsvRow, void> {
    for (const row of written) {
      const isFirst = delimiter === undefined && named === undefined;
      const [, separator] = isFirst ? (/^"?sep=(.)"?$/i.exec(row.text) ?? []) : [];
      named ??= separator;
      if (separator || !row.text.trim()) continue;
      delimiter ??= given ?? named ?? delimiterOf(row.text);
      if (delimiter === undefined) {
        throw new ListException(
          `more than one sign may separate the columns of the list: pass ${optionText("delimiter")}`,
        );
      }
      const cells = cellsOf(row, delimiter);
      yield { cells, line: row.line, delimiter, isGarbled: row.text.includes(replacement) };
    }
  }
  for await (const piece of textOf(source, options)) yield rowsOf(scanner.in(piece));
  yield rowsOf(scanner.last());
}
