/** The most different values of a column that may be a flag. */
const mostKinds = 8;

/** The longest of them, in characters. */
const longestKind = 32;

/** How many cells a column remembers as they are written, so that most are looked up and not read. */
const mostSeen = 64;

/** What a cell is that has a date: all dates are one value. */
const aDate = "a date";

const dates = [
  /^\d{4}([-/.])\d{1,2}\1\d{1,2}(?:[T ,].*)?$/,
  /^\d{1,2}([-/.])\d{1,2}\1(?:\d{4}|\d\d)(?:[T ,].*)?$/,
  /^(?:19|20)\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])$/,
  /^\d{1,2}(?:\.|st|nd|rd|th)?[ -]\p{L}{3,12}\.?,?[ -]\d{2,4}(?:[ ,].*)?$/u,
  /^\p{L}{3,12}\.? \d{1,2}(?:st|nd|rd|th)?,? \d{4}(?:[ ,].*)?$/u,
] as const;

/** Values that say yes or no. */
const marks: ReadonlySet<string> = new Set(
  "0 1 yes no y n true false x on off ja nein j oui non si sí sì no não sim tak nie da ne да нет 是 否 はい いいえ ✓ ✔ ✗ ✘ ☑ ☒".split(
    " ",
  ),
);

/** Words of somebody who is not to be called. */
const refusal =
  /\b(?:not?|don'?t|never|stop(?:ped)?|opt(?:ed)?|out|block(?:ed)?|unsub\w*|dnc|suppress\w*|nicht|kein\w*|nie|gesperrt|widerspr\w*|ne|pas|nunca|niet|non|blacklist\w*)\b/;

/** A telephone number, an address or a text of several lines is no flag. */
const other = /@|(?:\d[\s()./-]*){7}|[\r\n]/;

/** The value of a cell, so that two that mean the same are one; `undefined` for what is no flag. */
const kindOf = (cell: string): string | undefined => {
  if (dates.some((date) => date.test(cell))) return aDate;
  return cell.length > longestKind || other.test(cell) ? undefined : cell.toLowerCase();
};

/** Whether a few values say yes or no by themselves, however few rows there are. */
const isMarked = (kinds: ReadonlySet<string>): boolean => {
  const all = [...kinds];
  const isMark = (kind: string): boolean => kind === aDate || marks.has(kind);
  // One character may be a size or a count among others.
  const saysSo = (kind: string): boolean =>
    (kind.length > 1 && isMark(kind)) || refusal.test(kind.replace(/[_-]/g, " "));
  return all.some(saysSo) || (all.length > 0 && all.every(isMark));
};

/** What a column has had so far. */
interface Column {
  readonly index: number;
  readonly kinds: Set<string>;
  readonly seen: Set<string>;
  hasEmpty: boolean;
  /** Whether it has more than a flag has. */
  isOther: boolean;
}

/**
 * Finds the columns that may say who must not be called, by their cells: those of few different short values, and of dates.
 * No list of names could be complete.
 */
export class FlagColumns {
  readonly #columns: readonly Column[];
  /** Those that may be flags still. */
  #open: readonly Column[];
  #rows = 0;

  /** @param indexes - the columns that nothing uses */
  constructor(indexes: readonly number[]) {
    this.#columns = indexes.map((index) => {
      return { index, kinds: new Set(), seen: new Set(), hasEmpty: false, isOther: false };
    });
    this.#open = this.#columns;
  }

  /** Reads the cells of a row; in quotes one may have spaces around it. */
  add(cells: readonly string[]): void {
    this.#rows++;
    for (const column of this.#open) {
      const cell = (cells[column.index] ?? "").trim();
      if (cell === "") column.hasEmpty = true;
      else if (!column.seen.has(cell)) this.#read(column, cell);
    }
  }

  #read(column: Column, cell: string): void {
    const { kinds, seen } = column;
    const kind = kindOf(cell);
    if (kind !== undefined) kinds.add(kind);
    column.isOther = kind === undefined || kinds.size > mostKinds;
    if (column.isOther) this.#open = this.#columns.filter(({ isOther }) => !isOther);
    else if (seen.size < mostSeen) seen.add(cell);
  }

  /** The columns that say yes or no in words, or have dates, by the rows so far. */
  get marked(): readonly number[] {
    return this.#open.filter(({ kinds }) => isMarked(kinds)).map(({ index }) => index);
  }

  /** The columns that may be flags, once every row was read. */
  get all(): readonly number[] {
    return this.#open.filter((column) => this.#isFlag(column)).map(({ index }) => index);
  }

  #isFlag({ kinds, hasEmpty }: Column): boolean {
    if (kinds.size === 0) return false;
    if (isMarked(kinds) || (hasEmpty && kinds.size === 1)) return true;
    // Of a list of two or three each name is another one, and of a long one a flag is repeated.
    return this.#rows >= 2 * (kinds.size + (hasEmpty ? 1 : 0));
  }
}
