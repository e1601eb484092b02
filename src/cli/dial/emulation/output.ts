import { accessSync, constants, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type OpenedLedger, openLedger } from "../../../campaigns/index.ts";
import { exits, Failure } from "../../command.ts";
import { resultLines } from "../../commands/results.ts";
import { reportDataOf } from "../../report/data.ts";
import { codeOf, plain } from "../../terminal.ts";
import type { EmulatedCall } from "./calls.ts";
import type { Emulation } from "./run.ts";
import type { LocalTimes } from "./times.ts";

/** The files that an emulation writes: their names say that nobody was called, and an earlier emulation's are replaced. */
const names = {
  results: "emulated-results.csv",
  report: "emulated-report.html",
  calls: "emulated-calls.txt",
} as const;

const failure = (error: unknown): Failure =>
  new Failure(`--output cannot be written (${codeOf(error) ?? "unknown"})`, exits.refused);

/**
 * Makes the folder.
 *
 * @throws {Failure} if it can't be written
 */
export const prepareOutput = (folder: string): void => {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    accessSync(folder, constants.W_OK);
  } catch (error) {
    throw failure(error);
  }
};

/** Writes a file whole or not at all. Telephone numbers are in it, so only its user may read it. */
const write = (file: string, text: string): void => {
  const beside = `${file}.${process.pid}`;
  try {
    writeFileSync(beside, text, { mode: 0o600 });
    renameSync(beside, file);
  } catch (error) {
    rmSync(beside, { force: true });
    throw failure(error);
  }
};

/** A call as a dialogue. */
const callLines = (
  { startedAt, isAnswered, conversation }: EmulatedCall,
  times: LocalTimes,
): readonly string[] => [
  `  ${times.day(startedAt)} ${times.time(startedAt)}${isAnswered ? "" : "  not answered"}`,
  ...(isAnswered && conversation.length === 0 ? ["    hears    nothing"] : []),
  ...conversation.map(({ type, text }) => `    ${type.padEnd(8)} ${plain(text) || "nothing"}`),
];

/** What each contact would hear, in the order of the list. */
const callsText = ({ results, calls }: Emulation, times: LocalTimes): string =>
  results
    .flatMap(({ to_number, id, disposition = "waiting" }) => [
      `${to_number}${id === undefined ? "" : ` (${plain(id)})`}: ${disposition.replaceAll("_", " ")}`,
      ...(calls.get(to_number) ?? []).flatMap((call) => callLines(call, times)),
      "",
    ])
    .join("\n");

const resultsText = (ledger: OpenedLedger): string =>
  `${[...resultLines(ledger, { variables: true })].join("\r\n")}\r\n`;

/**
 * Writes results, report and the calls of each contact into a folder.
 *
 * @param list - the name of the list, for the report
 * @returns what is said of it
 * @throws {Failure} if it can't be written
 */
export const writeOutput = async (
  folder: string,
  {
    database,
    emulation,
    times,
    list,
  }: {
    readonly database: Parameters<typeof openLedger>[0];
    readonly emulation: Emulation;
    readonly times: LocalTimes;
    readonly list: string;
  },
): Promise<string> => {
  const ledger = openLedger(database);
  const { timezone } = times;
  const title = `${list}, emulated: nobody was called`;
  const options = { ledger: list, title, timezone, now: emulation.to, hasNumbers: false };
  // Loaded on use: the page has a library.
  const { reportPage } = await import("../../report/page.ts");
  write(join(folder, names.results), resultsText(ledger));
  write(
    join(folder, names.report),
    reportPage(reportDataOf(ledger.progress(), ledger.figures(), options)),
  );
  write(join(folder, names.calls), callsText(emulation, times));
  return `${Object.values(names).join(", ")} are in ${folder}`;
};
