import type { Ledger, Result } from "../../campaigns/index.ts";
import { type Command, defineCommand, type Exit, exits, Failure } from "../command.ts";
import { withLedger } from "../ledger.ts";
import { jsonLine, plain, type Terminal } from "../terminal.ts";

/** The start of a formula for some spreadsheet: at the start of a cell, or after another separator. */
const formula = /(^|[;|])(["\s]*)(?='*[=+\-@＝＋－＠])/g;

/** A number below 0: it is no formula. */
const amount = /^-\d+\.\d+$/;

/**
 * A cell of CSV that a spreadsheet shows as it is: a text that would be a formula gets an apostrophe, also
 * where cells are separated by something else than commas. One that has an apostrophe gets another, so that no two
 * texts are one cell.
 */
export const cell = (value: unknown): string => {
  if (value === undefined || value === null) return "";
  if (typeof value === "number" || amount.test(String(value))) return String(value);
  const safe = plain(String(value)).replace(formula, "$1$2'");
  return /[",;|]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
};

const timeOf = (at: number | undefined): string | undefined =>
  at === undefined ? undefined : new Date(at).toISOString();

/** The service's ids of recordings, apart by spaces; nothing where there are none. */
const idsOf = (recordings: Result["recordings"]): string | undefined =>
  recordings.map(({ recording_id }) => recording_id).join(" ") || undefined;

/** What a contact has answered to a question: for one that was recorded, the ids of its recordings. */
const answerOf = ({ answers, recordings }: Result, name: string): string | undefined =>
  own(answers, name) ?? idsOf(recordings.filter(({ as }) => as === name));

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
  answered_by: ({ answered_by }) => answered_by,
  cost: ({ cost }) => cost,
  currency: ({ currency }) => currency,
  recordings: ({ recordings }) => idsOf(recordings),
};

/** The column that a ledger has where its campaign has several services. */
const ofServices: typeof columns = { service: ({ service }) => service };

/** A value of a record's own. */
const own = (values: Readonly<Record<string, string>>, name: string): string | undefined =>
  Object.hasOwn(values, name) ? values[name] : undefined;

/** The columns that a ledger adds: one for each question, and one for each of the list's own columns. */
interface Added {
  /** Those of every result. */
  readonly own: typeof columns;
  readonly answers: readonly string[];
  readonly variables: readonly string[];
}

/**
 * The header of a table: a question or a column of the list that has the name of another column gets one of its own, as
 * spreadsheets and programs find columns by name, in any case.
 */
const headerOf = ({ own: fields, answers, variables }: Added): readonly string[] => {
  const taken = new Set<string>();
  const named = (kind: string) => (name: string) => {
    const isTaken = (text: string): boolean => taken.has(text.toLowerCase());
    let own = isTaken(name) ? `${kind}_${name}` : name;
    for (let count = 2; isTaken(own); count++) own = `${kind}_${name}_${count}`;
    taken.add(own.toLowerCase());
    return own;
  };
  return [
    ...Object.keys(fields).map(named("result")),
    ...answers.map(named("answer")),
    ...variables.map(named("list")).map(cell),
  ];
};

/** A row of CSV. A spreadsheet takes an E.164 number for a number, so it needs no apostrophe. */
const csvRow = (result: Result, { own: fields, answers, variables }: Added): string =>
  [
    ...Object.entries(fields).map(([name, of]) =>
      name === "to_number" ? result.to_number : cell(of(result)),
    ),
    ...answers.map((name) => cell(answerOf(result, name))),
    ...variables.map((name) => cell(own(result.variables, name))),
  ].join(",");

const jsonRow = (result: Result, { own: fields }: Added, withVariables: boolean): string =>
  jsonLine({
    ...Object.fromEntries(
      Object.entries(fields)
        .filter(([name]) => name !== "recordings")
        .map(([name, of]) => [name, of(result)]),
    ),
    answers: result.answers,
    ...(result.recordings.length > 0 && {
      recordings: result.recordings.map(({ recording_id }) => recording_id),
    }),
    ...(withVariables && { variables: result.variables }),
  }) ?? "{}";

/** Rows per write. */
const page = 500;

/** The whole table of a ledger, in pieces of some rows: CSV, or lines of JSON. */
export function* resultLines(
  ledger: Pick<Ledger, "results" | "answerNames" | "variableNames" | "serviceNames">,
  { json = false, variables = false }: { readonly json?: boolean; readonly variables?: boolean },
): Generator<string, void> {
  const rowOf = json ? jsonRow : csvRow;
  const separator = json ? "\n" : "\r\n";
  // What comes up while the rows are printed has no column.
  const hasServices = ledger.serviceNames().length > 0;
  const added: Added = {
    own: hasServices ? { ...columns, ...ofServices } : columns,
    answers: json ? [] : ledger.answerNames(),
    variables: variables && !json ? ledger.variableNames() : [],
  };
  let rows = json ? [] : [headerOf(added).join(",")];
  for (const result of ledger.results()) {
    rows.push(rowOf(result, added, variables));
    if (rows.length < page) continue;
    yield rows.join(separator);
    rows = [];
  }
  if (rows.length > 0) yield rows.join(separator);
}

/** @throws {Failure} if output was lost; a reader that left has what it needs */
const finish = (terminal: Terminal): Exit => {
  if (!terminal.isLost) return exits.done;
  throw new Failure("not everything could be written: is the disk full?", exits.refused);
};

/** `outdial results`: a row for each contact. */
export const command: Command = defineCommand({
  args: ["ledger"],
  flags: {
    json: { type: "boolean", help: "a line of JSON per contact; errors too, on stderr" },
    variables: { type: "boolean", help: "also the list's own columns, those that the flow gets" },
  },
  example: "results people.outdial > results.csv",
  notes: [
    "A contact that waits or is being called has no disposition yet. It works during a run.",
    `started_at is when the last attempt began, ended_at when its final notification came (both UTC), and
duration the seconds from the answer to the end.`,
    `cost is what the carrier charges for the last call, as it reports it, and currency its currency, if
named.`,
    `Where the list was dialled by several services, service is the one of the last call.`,
    `recordings has the service's ids of what a record of the flow has recorded, apart by spaces, and a
column of its own those of each that has a name.`,
    `What people answered has a column for each question, in the order in which they first came up. One
with the name of another column is called answer_NAME, and a column of the list list_NAME.`,
  ],
  exits: {
    0: "everything is printed",
    1: "not everything could be written",
    2: "the command line or the ledger is wrong",
  },
  run: ({ args: [file = ""], flags: { json = false, variables = false }, terminal }) =>
    withLedger(file, async (ledger) => {
      for (const lines of resultLines(ledger, { json, variables })) {
        if (!(await terminal.print(lines))) return finish(terminal);
      }
      const { contacts } = ledger.progress();
      if (contacts === 0) await terminal.report("outdial: the ledger has no contacts yet");
      return finish(terminal);
    }),
});
