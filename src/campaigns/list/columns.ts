import type { RefusedContact } from "../contacts.ts";
import { ListException } from "../errors.ts";

/** Headers are compared without case, spaces, `-` and `_`: `Time Zone` is `timezone`. */
const keyOf = (header: string): string => header.toLowerCase().replace(/[\s_-]+/g, "");

/** The usual headers of the column with the telephone. `number` may be anything, so it counts only without them. */
const numberKeys = ["tonumber", "phonenumber", "contactnumber", "phone"];
const zoneKeys = ["timezone", "tz"];
const callTimeKey = "callat";
const senderKey = "fromnumber";

/** Columns that probably have a telephone number, such as `Phone 1 - Value`, and not what kind it is. */
const telephoneKey = /phone|mobile|cell|tel\b|^tel|telefon|handy|m[oó]vil|portable/;
const aboutTelephone = /type|label|country|ext|fax|email|code|optout|optedout|donot/;

/** Columns that may say who must not be called. */
const optOutKey = /donot(call|contact|phone)|dnc|opt(ed)?out|unsubscribed?/;

/** Which column of a list means what, as indexes. */
export interface ListColumns {
  /** The names of all columns, as they are written. */
  readonly header: readonly string[];
  /** The telephone number. */
  readonly number: number;
  /** The contact's id. */
  readonly id: number | undefined;
  /** The time zone. */
  readonly timezone: number | undefined;
  /** When the contact is called first. */
  readonly callAt: number | undefined;
  /** Who calls it. */
  readonly from: number | undefined;
  /** The columns that say who must not be called. */
  readonly optOut: readonly number[];
  /** Of these, those that block by some values only, in lower case. */
  readonly optOutValues: ReadonlyMap<number, readonly string[]>;
  /** The columns that nothing uses and no option answers for: their cells may say who must not be called. */
  readonly open: readonly number[];
  /** By the name of the variable. */
  readonly variables: ReadonlyMap<string, number>;
}

/** The name of a variable: `First Name` is `first_name`. */
export const variableName = (text: string): string =>
  text
    .trim()
    .toLowerCase()
    .replace(/[\s-]+/g, "_");

/** What looks like a telephone number: a list without a header has one where a name should be. */
const telephone = /[+(]*\d(?:[\s()./-]*\d){6,}/g;

/** The name of a column without telephone numbers. */
const shownName = (name: string): string => name.replace(telephone, "***");

/** The same in quotes, for a message. */
export const quotedName = (name: string): string => `"${shownName(name)}"`;

const quoted = (names: readonly string[]): string => names.map(quotedName).join(", ");

/** How many columns a message proposes. */
const mostProposed = 3;

/** @throws {ListException} if two columns have one name */
const checkDistinct = (header: readonly string[]): void => {
  const seen = new Map<string, string>();
  for (const name of header) {
    const key = keyOf(name);
    const other = seen.get(key);
    if (key && other !== undefined) {
      throw new ListException(`two columns of the list have one name: ${quoted([other, name])}`);
    }
    seen.set(key, name);
  }
};

/** The text of an option, without the `optionText` of another program. */
export const optionText: NonNullable<ListOptions["optionText"]> = (option, value) =>
  value === undefined ? option : `${option}: ${JSON.stringify(value)}`;

/** The exception for columns that may say who must not be called, by their names. */
export const unanswered = (
  names: readonly string[],
  { optionText: nameOf = optionText }: Pick<ListOptions, "optionText">,
): ListException => {
  const [first = ""] = names.filter(Boolean).map(shownName);
  if (!first) {
    return new ListException(
      "a column without a name may say who must not be called: name it in the first line of the list",
    );
  }
  const some = `${nameOf("optOutColumns", `${first}=VALUE`)} to block those with one value`;
  return new ListException(
    `the list may say who must not be called: ${quoted(names)}; pass ${nameOf("optOutColumns", first)} to block its rows, or ${some}, or ${nameOf("ignoreColumns", first)} if it says something else`,
  );
};

/** A cell of an opt-out column as it is compared: an accent is a sign of its own, or part of its letter. */
export const flagText = (text: string): string => text.trim().normalize().toLowerCase();

/** Which columns block rows, and by which values. */
const optOutsOf = (
  options: readonly string[],
  find: (name: string) => number | undefined,
  chosen: (option: keyof ListOptions, name: string) => number,
): Pick<ListColumns, "optOut" | "optOutValues"> => {
  const optOut = new Set<number>();
  const optOutValues = new Map<number, readonly string[]>();
  const whole = new Set<number>();
  for (const text of options) {
    const end = text.lastIndexOf("=");
    // A name may have the sign in it.
    const isWhole = end < 0 || find(text) !== undefined;
    const index = chosen("optOutColumns", isWhole ? text : text.slice(0, end));
    optOut.add(index);
    if (isWhole) whole.add(index);
    else {
      const value = flagText(text.slice(end + 1));
      optOutValues.set(index, [...(optOutValues.get(index) ?? []), value]);
    }
  }
  for (const index of whole) optOutValues.delete(index);
  return { optOut: [...optOut], optOutValues };
};

/**
 * Assigns the columns of a list.
 *
 * @throws {ListException} if a column is missing, two have one meaning, or one may say who must not be called
 */
export const columnsOf = (
  header: readonly string[],
  {
    numberColumn,
    zoneColumn,
    optOutColumns = [],
    ignoreColumns = [],
    variables,
    optionText: nameOf = optionText,
  }: ListOptions,
): ListColumns => {
  checkDistinct(header);
  const keys = header.map(keyOf);
  const find = (name: string): number | undefined => {
    const index = keys.indexOf(keyOf(name));
    return index < 0 ? undefined : index;
  };
  const chosen = (option: keyof ListOptions, name: string): number => {
    const index = find(name);
    if (index === undefined)
      throw new ListException(`${nameOf(option)} is not a column of the list`);
    return index;
  };
  const only = (
    meaning: string,
    known: readonly string[],
    option: keyof ListOptions,
  ): number | undefined => {
    const found = keys.flatMap((key, index) => (known.includes(key) ? [index] : []));
    if (found.length < 2) return found[0];
    const names = quoted(found.map((index) => header[index] ?? ""));
    throw new ListException(
      `more than one column is a ${meaning}: ${names}; choose with ${nameOf(option)}`,
    );
  };
  const number =
    numberColumn === undefined
      ? (only("telephone number", numberKeys, "numberColumn") ?? find("number"))
      : chosen("numberColumn", numberColumn);
  if (number === undefined) {
    const likely = header
      .filter(
        (_, index) =>
          telephoneKey.test(keys[index] ?? "") && !aboutTelephone.test(keys[index] ?? ""),
      )
      .slice(0, mostProposed)
      .map((name) => nameOf("numberColumn", shownName(name)));
    const hint = likely.length > 0 ? likely.join(" or ") : nameOf("numberColumn");
    throw new ListException(
      `the list has no column to_number, phone_number, contact_number, phone or number; name it with ${hint}`,
    );
  }
  const id = find("id");
  const timezone =
    zoneColumn === undefined
      ? only("time zone", zoneKeys, "zoneColumn")
      : chosen("zoneColumn", zoneColumn);
  const callAt = find(callTimeKey);
  const from = find(senderKey);
  const { optOut, optOutValues } = optOutsOf(optOutColumns, find, chosen);
  const ignored = ignoreColumns.map((name) => chosen("ignoreColumns", name));
  const named = header.filter(
    (_, index) =>
      optOutKey.test(keys[index] ?? "") && !optOut.includes(index) && !ignored.includes(index),
  );
  if (named.length > 0) throw unanswered(named, { optionText: nameOf });
  const missing = variables?.filter((name) => find(name) === undefined) ?? [];
  if (missing.length > 0) {
    throw new ListException(
      `${nameOf("variables")} names no column of the list: ${missing.join(", ")}`,
    );
  }
  const used: readonly (number | undefined)[] = [number, id, timezone, callAt, from, ...optOut];
  const asked = new Set([...used, ...ignored, ...(variables ?? []).map(find)]);
  const rest = header.flatMap((name, index) =>
    name && !used.includes(index) ? [variableName(name)] : [],
  );
  return {
    header,
    number,
    id: id === number ? undefined : id,
    timezone,
    callAt: callAt === number ? undefined : callAt,
    from: from === number ? undefined : from,
    ...{ optOut, optOutValues },
    open: header.flatMap((_, index) => (asked.has(index) ? [] : [index])),
    variables: new Map((variables ?? rest).map((name) => [name, keys.indexOf(keyOf(name))])),
  };
};

/** How a list is read. Columns are found without case, spaces, `-` and `_`. */
export interface ListOptions {
  /**
   * The one sign between two columns.
   *
   * @defaultValue that of the list's `sep=` line; otherwise `,`, `;` or a tab, as the header has it
   */
  readonly delimiter?: string | undefined;
  /**
   * The encoding of the file, as `TextDecoder` names it, such as `"windows-1252"`.
   *
   * @defaultValue `"utf-8"`; a row that is none is refused
   */
  readonly encoding?: string | undefined;
  /**
   * The column with the telephone number.
   *
   * @defaultValue `to_number`, `phone_number`, `contact_number` or `phone`, of which a list has one; else `number`
   */
  readonly numberColumn?: string | undefined;
  /**
   * The column with the time zone.
   *
   * @defaultValue `timezone` or `tz`
   */
  readonly zoneColumn?: string | undefined;
  /**
   * Columns that say who must not be called: a row is blocked by each cell but an empty one, `false`, `no`, `n` and `0`.
   * `"consent=no"` blocks the rows with that value alone, in any case.
   *
   * @defaultValue none; a list with a column such as `DoNotCall` or `opt_out` is refused, unless it is ignored, and so is one
   * with a column that nothing uses and that has only a few short values, or dates
   */
  readonly optOutColumns?: readonly string[] | undefined;
  /** Columns that may say who must not be called, by their name or their cells, and say something else. */
  readonly ignoreColumns?: readonly string[] | undefined;
  /**
   * The columns that are variables. A column that is named here is used.
   *
   * @defaultValue every column that is nothing else
   */
  readonly variables?: readonly string[] | undefined;
  /**
   * Reads the cell with the telephone number, and that of the column `from_number`.
   *
   * @defaultValue the cell as it is; a campaign refuses what is not E.164
   */
  readonly readNumber?: ((cell: string) => NumberReading) | undefined;
  /** Called with the columns, before the first contact. */
  readonly onColumns?: ((columns: ListColumns) => void) | undefined;
  /**
   * Called with each row that is no contact.
   *
   * @defaultValue they are left out
   */
  readonly onRefused?: ((row: RefusedContact) => void) | undefined;
  /** Called with what is allowed, and probably not meant, once every row was read: a value of `optOutColumns` that no cell has. */
  readonly onWarning?: ((text: string) => void) | undefined;
  /**
   * How a message names an option, and a value for it, such as `--number-column "Phone"`.
   *
   * @defaultValue `numberColumn: "Phone"`
   */
  readonly optionText?: ((option: keyof ListOptions, value?: string) => string) | undefined;
}

/** A telephone number in E.164, or the rule that a cell breaks. */
export type NumberReading =
  | { readonly number: string; readonly reason?: undefined }
  | { readonly number?: undefined; readonly reason: string };
