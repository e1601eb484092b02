import {
  closeSync,
  existsSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { basename } from "node:path";
import { type Command, defineCommand, exits, Failure, UsageError } from "../command.ts";
import { requireTimezone } from "../dial/options.ts";
import { withLedger } from "../ledger.ts";
import { reportDataOf } from "../report/data.ts";
import { reportLines } from "../report/text.ts";
import { codeOf, jsonLine } from "../terminal.ts";

const start = "<!doctype html>";

/** Whether a file is there that is no page, such as the ledger itself. */
const isOther = (file: string): boolean => {
  if (!existsSync(file)) return false;
  const bytes = Buffer.alloc(start.length);
  const opened = openSync(file, "r");
  try {
    readSync(opened, bytes);
  } finally {
    closeSync(opened);
  }
  return bytes.toString("latin1").toLowerCase() !== start;
};

/** Writes a page whole or not at all; an earlier report is replaced. */
const writePage = (file: string, page: string): void => {
  const beside = `${file}.${process.pid}`;
  try {
    if (isOther(file)) throw new UsageError("--html is a file that is no report: it is kept");
    writeFileSync(beside, page, { flag: "wx" });
    renameSync(beside, file);
  } catch (error) {
    rmSync(beside, { force: true });
    if (error instanceof Failure) throw error;
    throw new Failure(`--html cannot be written (${codeOf(error) ?? "unknown"})`, exits.refused);
  }
};

/**
 * What was asked, by the names of the questions.
 *
 * @throws {UsageError} if one has no name or no text
 */
const questionsIn = (texts: readonly string[] = []): Readonly<Record<string, string>> =>
  Object.fromEntries(
    texts.map((each) => {
      const [, name, text] = /^\s*([^=]+?)\s*=\s*(\S.*)$/.exec(each) ?? [];
      if (name && text) return [name, text];
      throw new UsageError('--question must be a name and a text: "visit=How was your visit?"');
    }),
  );

/** `outdial report`: the figures of a ledger. */
export const command: Command = defineCommand({
  args: ["ledger"],
  flags: {
    html: {
      type: "string",
      value: "file",
      help: "also writes a page with charts, which loads nothing",
    },
    title: { type: "string", value: "text", help: "at its top; default: the name of the ledger" },
    question: {
      type: "string",
      multiple: true,
      value: "name=text",
      help: 'what was asked: "visit=How was your visit?"; repeatable',
    },
    timezone: {
      type: "string",
      value: "zone",
      help: "of hours and days; default: that of this machine",
    },
    numbers: { type: "boolean", help: "keeps telephone numbers in answers; otherwise ***" },
    json: { type: "boolean", help: "one line of JSON; errors too, on stderr" },
  },
  example: "report people.outdial --html report.html",
  notes: [
    `It works during a run. A call counts where it began, and as answered where a person, a machine or
somebody unknown took it; the answer rate counts people, of all calls.`,
    `Answers that are keys stand in the order of the keys. Who was put on the do-not-call list by an
answer, in that call, stands apart, and counts in no share.`,
    "The page has no telephone number of the list, and none in answers without --numbers.",
  ],
  exits: {
    0: "the report is printed",
    1: "not everything could be written",
    2: "the command line or the ledger is wrong",
  },
  run: ({ args: [file = ""], flags, terminal }) => {
    const { timezone = Intl.DateTimeFormat().resolvedOptions().timeZone, html } = flags;
    requireTimezone(timezone);
    return withLedger(file, async (ledger) => {
      const data = reportDataOf(ledger.progress(), ledger.figures(), {
        ledger: basename(file),
        timezone,
        now: Date.now(),
        hasNumbers: flags.numbers === true,
        title: flags.title,
        questions: questionsIn(flags.question),
      });
      // Loaded on use: the page has a library.
      if (html !== undefined) writePage(html, (await import("../report/page.ts")).reportPage(data));
      const text = flags.json ? (jsonLine(data) ?? "{}") : reportLines(data).join("\n");
      await terminal.print(text);
      if (terminal.isLost) {
        throw new Failure("not everything could be written: is the disk full?", exits.refused);
      }
      return exits.done;
    });
  },
});
