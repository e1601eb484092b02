import type { Result } from "../../campaigns/index.ts";
import { type Command, defineCommand, type Exit, exits, Failure } from "../command.ts";
import { withLedger } from "../ledger.ts";
import { jsonLine, plain, type Terminal } from "../terminal.ts";

/** The start of a formula for some spreadsheet: at the start of a cell, or after another separator. */
const formula = /(^|[;|])(["\s]*)(?='*[=+\-@＝＋－＠])/g;

/**
 * A cell of CSV that a spreadsheet shows as it is: a text that would be a formula gets an apostrophe, also
 * where cells are separated by something else than commas. One that has an apostrophe gets another, so that no two
 * texts are one cell.
 */
export const cell = (value: unknown): string => {
  if (value === undefined || value === null) return "";
  if (typeof value === "number") return String(value);
  const safe = plain(String(value)).replace(formula, "$1$2'");
  return /[",;|]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
};

const timeOf = (at: number | undefined): string | undefined =>
  at === undefined ? undefined : new Date(at).toISOString();

/** Every column, in order. */
const columns: Readonly<Record<string, (result: Result) => string | number | undefined>> = {
  to_number: ({ to_number }) => to_number,
  id: ({ id }) => id,
  disposition: ({ disposition }) => disposition,
  reason: ({ reason }) => reason,
  attempts: ({ attempts }) => attempts,
  call_id: ({ call_id }) => call_id,
  started_at: ({ startedAt }) => timeOf(startedAt),
  ended_at: ({ endedAt }) => timeOf(endedAt),
  duration: ({ duration }) => (duration === undefined ? undefined : duration / 1000),
};

/** A row of CSV. A spreadsheet takes an E.164 number for a number, so it needs no apostrophe. */
const csvRow = (result: Result): string =>
  Object.entries(columns)
    .map(([name, of]) => (name === "to_number" ? result.to_number : cell(of(result))))
    .join(",");

const jsonRow = (result: Result): string =>
  jsonLine(Object.fromEntries(Object.entries(columns).map(([name, of]) => [name, of(result)]))) ??
  "{}";

/** Rows per write. */
const page = 500;

/** @throws {Failure} if output was lost; a reader that left has what it needs */
const finish = (terminal: Terminal): Exit => {
  if (!terminal.isLost) return exits.done;
  throw new Failure("not everything could be written: is the disk full?", exits.refused);
};

/** `outdial results`: a row for each contact. */
export const command: Command = defineCommand({
  args: ["ledger"],
  flags: { json: { type: "boolean", help: "a line of JSON per contact; errors too, on stderr" } },
  notes: [
    "A contact that waits or is being called has no disposition yet. It works during a run.",
    `started_at is when the last attempt began, ended_at when its final notification came (both UTC), and
duration the seconds from the answer to the end.`,
  ],
  exits: {
    0: "everything is printed",
    1: "not everything could be written",
    2: "the command line or the ledger is wrong",
  },
  run: ({ args: [file = ""], flags: { json }, terminal }) =>
    withLedger(file, async (ledger) => {
      const rowOf = json ? jsonRow : csvRow;
      const separator = json ? "\n" : "\r\n";
      let rows = json ? [] : [Object.keys(columns).join(",")];
      for (const result of ledger.results()) {
        rows.push(rowOf(result));
        if (rows.length < page) continue;
        if (!(await terminal.print(rows.join(separator)))) return finish(terminal);
        rows = [];
      }
      if (rows.length > 0) await terminal.print(rows.join(separator));
      return finish(terminal);
    }),
});
