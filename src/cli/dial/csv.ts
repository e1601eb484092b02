import { closeSync, createReadStream, openSync } from "node:fs";
import {
  type Contact,
  type ListColumns,
  ListException,
  type ListOptions,
  readList,
} from "../../campaigns/index.ts";
import { quotedName } from "../../campaigns/list/columns.ts";
import { UsageError } from "../command.ts";
import { codeOf } from "../terminal.ts";

/** The flags of the options of a list. */
const flagOf: Readonly<Partial<Record<keyof ListOptions, string>>> = {
  delimiter: "--delimiter",
  encoding: "--encoding",
  numberColumn: "--number-column",
  zoneColumn: "--zone-column",
  optOutColumns: "--opt-out-column",
  ignoreColumns: "--ignore-columns",
  variables: "--variables",
};

/** How a message names an option: with its value as a shell takes it. */
export const optionText: NonNullable<ListOptions["optionText"]> = (option, value) => {
  const flag = flagOf[option] ?? option;
  if (value === undefined) return flag;
  return `${flag} ${/^[\w.-]+$/.test(value) ? value : JSON.stringify(value)}`;
};

/**
 * The delimiter that a flag names.
 *
 * @throws {UsageError} if it is not one sign
 */
export const delimiterOf = (text: string): string => {
  const sign = /^(tab|\\t)$/i.test(text) ? "\t" : text;
  if (/^[^\w"+\r\n]$/.test(sign)) return sign;
  throw new UsageError('--delimiter must be one sign, such as ";", or tab');
};

/** Most names that the plan lists as unused. */
const mostNames = 12;

/** The columns that are used, for the plan. */
export const describeColumns = ({
  header,
  number,
  id,
  timezone,
  callAt,
  from: sender,
  optOut,
  variables,
}: ListColumns): string => {
  const from = (what: string, index: number | undefined): readonly string[] =>
    index === undefined ? [] : [`${what} from ${quotedName(header[index] ?? "")}`];
  const used = new Set([number, id, timezone, callAt, sender, ...optOut, ...variables.values()]);
  const unused = header.filter((name, index) => name && !used.has(index));
  const more = unused.length > mostNames ? ` and ${unused.length - mostNames} more` : "";
  return [
    [
      ...from("number", number),
      ...from("id", id),
      ...(timezone === undefined ? ["no time zone column"] : from("time zone", timezone)),
      ...from("call time", callAt),
      ...from("caller", sender),
      ...optOut.flatMap((index) => from("do-not-call", index)),
      ...[...variables].flatMap(([name, index]) => from(`variable ${name}`, index)),
    ].join(", "),
    ...(unused.length > 0
      ? [
          `not used: ${unused.slice(0, mostNames).map(quotedName).join(", ")}${more} (a flow gets the columns that --variables names)`,
        ]
      : []),
  ].join("; ");
};

/**
 * The contacts of a CSV file, read as they are taken.
 *
 * @throws {UsageError} if the file cannot be read, or lacks a column
 */
export async function* readContacts(
  file: string,
  options: ListOptions,
): AsyncGenerator<Contact, void> {
  try {
    yield* readList(createReadStream(file), { ...options, optionText });
  } catch (error) {
    if (error instanceof ListException) throw new UsageError(error.message);
    throw readError("the list", error);
  }
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
