import { dispositions } from "../../../campaigns/index.ts";
import { counted, plain } from "../../terminal.ts";
import { durationText } from "../durations.ts";
import type { ConversationKind, Figures } from "./figures.ts";
import type { Emulation } from "./run.ts";
import type { LocalTimes } from "./times.ts";

/** What an emulation has shown, for its texts. */
export interface Summary {
  readonly emulation: Emulation;
  readonly figures: Figures;
  readonly times: LocalTimes;
  /** The functions of the script that no call has reached; `undefined` where its flow was not asked. */
  readonly unreached: readonly string[] | undefined;
  /** Whether it was ended before the list was through. */
  readonly isInterrupted: boolean;
  /** The next steps. */
  readonly hints: readonly string[];
}

const width = 80;

/** Columns of the titles. */
const margin = 12;

/** The most days, answers and conversations that are printed. */
const most = { days: 10, values: 8, conversations: 6, errors: 5 } as const;

/** Breaks a text into lines that fit, each after the first below its beginning. */
const wrapped = (text: string, columns: number): readonly string[] => {
  const lines: string[] = [];
  let line = "";
  for (const word of plain(text).split(" ")) {
    if (line !== "" && line.length + 1 + word.length > columns) {
      lines.push(line);
      line = word;
    } else line = line === "" ? word : `${line} ${word}`;
  }
  return [...lines, line];
};

/** A text with a word before it, the rest of its lines below the first. */
const labelled = (label: string, text: string, columns: number): readonly string[] =>
  wrapped(text, columns - label.length).map(
    (line, at) => (at === 0 ? label : " ".repeat(label.length)) + line,
  );

/** Lines beside a title; nothing without lines. */
const section = (title: string, lines: readonly string[]): readonly string[] =>
  lines.length === 0
    ? []
    : ["", ...lines.map((line, at) => (at === 0 ? title : "").padEnd(margin) + line)];

/** The first of some lines, and how many more there are. */
const first = <T>(
  all: readonly T[],
  amount: number,
  linesOf: (each: T) => readonly string[],
  noun: string,
): readonly string[] => {
  const more = all.length - amount;
  return [
    ...all.slice(0, amount).flatMap(linesOf),
    ...(more > 0 ? [`and ${counted(more, `more ${noun}`)}: --json has all`] : []),
  ];
};

const timeLines = ({ emulation, figures, times }: Summary): readonly string[] => {
  const { from, to } = emulation;
  const { days } = figures;
  const text = (at: number): string => `${times.day(at)} ${times.time(at)}`;
  const rows = first(
    days,
    most.days,
    ({ day, calls, first: begin, last }) => [
      `${day}  ${times.time(begin)} to ${times.time(last)}  ${counted(calls, "call")}`,
    ],
    "day",
  );
  return [
    `${durationText((to - from) / 1_000)}, if it began now:`,
    `${text(from)} to ${text(to)}, ${times.timezone}`,
    ...(days.length > 1 ? rows : []),
  ];
};

const endings = ({ emulation: { progress } }: Summary): readonly string[] => {
  const { contacts, waiting } = progress;
  const counted = Object.keys(dispositions).map(
    (name) => [name, Number(Reflect.get(progress, name))] as const,
  );
  const rows = [...counted, ["waiting", waiting] as const].filter(([, amount]) => amount > 0);
  const columns = Math.max(...rows.map(([, amount]) => amount.toLocaleString("en").length));
  return rows.map(([name, amount]) => {
    const percent = ((amount * 100) / contacts).toFixed(1);
    const amountText = amount.toLocaleString("en").padStart(columns);
    return `${amountText}  ${percent.padStart(5)} %  ${name.replaceAll("_", " ")}`;
  });
};

const answerLines = ({ emulation, figures }: Summary): readonly string[] => {
  const { contacts } = emulation.progress;
  return Object.entries(figures.answers).flatMap(([name, values]) => {
    const given = Object.entries(values).sort(([, one], [, other]) => other - one);
    const total = given.reduce((sum, [, amount]) => sum + amount, 0);
    const texts = given
      .slice(0, most.values)
      .map(([value, amount]) => `${value}: ${amount.toLocaleString("en")}`);
    const more = given.length - texts.length;
    const all = [
      ...texts,
      ...(more > 0 ? [`${more} other answers`] : []),
      `none: ${(contacts - total).toLocaleString("en")}`,
    ];
    return labelled(`${name}  `, all.join(",  "), width - margin);
  });
};

const conversationLines = ({
  contacts,
  to_number,
  disposition,
  conversation,
}: ConversationKind): readonly string[] => [
  `${counted(contacts, "contact")} such as ${to_number}: ${disposition.replaceAll("_", " ")}`,
  ...(conversation.length === 0 ? ["  hears    nothing"] : []),
  ...conversation.flatMap(({ type, text }) =>
    labelled(`  ${type} `.padEnd(11), text || "nothing", width - margin),
  ),
];

const errorLines = ({ emulation: { errors } }: Summary): readonly string[] =>
  first(
    [...errors],
    most.errors,
    ([message, times]) => wrapped(`${times} times: ${message}`, width - margin),
    "error",
  );

/** Why contacts still wait. */
const notCalled = ({ emulation, isInterrupted }: Summary): readonly string[] => {
  const { waiting, state, reason = "" } = emulation.progress;
  if (waiting === 0) return [];
  const never = isInterrupted ? "interrupted" : "no call can begin within these hours";
  const why = state === "paused" ? `paused: ${plain(reason)}` : never;
  return wrapped(`${counted(waiting, "contact")}: ${why}`, width - margin);
};

/** What an emulation has shown, in lines of at most 80 columns. */
export const summaryLines = (summary: Summary): readonly string[] => {
  const { figures, unreached, hints } = summary;
  const { calls, called, mostAtOnce, meanSeconds, conversations } = figures;
  return [
    "Nobody was called: this is what would happen on the emulator.",
    ...section("Calls", [
      `${counted(calls, "call")} to ${counted(called, "contact")}, at most ${mostAtOnce} at once, ${meanSeconds} s each on average`,
    ]),
    ...section("Time", timeLines(summary)),
    ...section("Contacts", endings(summary)),
    ...section("Answers", answerLines(summary)),
    ...section(
      "In a call",
      unreached ? first(conversations, most.conversations, conversationLines, "kind") : [],
    ),
    ...section(
      "Not reached",
      unreached && unreached.length > 0 ? wrapped(unreached.join(", "), width - margin) : [],
    ),
    ...section("Errors", errorLines(summary)),
    ...section("Not called", notCalled(summary)),
    ...section(
      "Next",
      hints.flatMap((hint) => wrapped(hint, width - margin)),
    ),
  ];
};

const isoOf = (at: number): string => new Date(at).toISOString();

/** The same for `--json`, with every contact. */
export const jsonOf = ({ emulation, figures, unreached }: Summary) => {
  const { results, calls, from, to, errors } = emulation;
  return {
    emulated: true,
    began_at: isoOf(from),
    ended_at: isoOf(to),
    calls: figures.calls,
    most_at_once: figures.mostAtOnce,
    days: figures.days.map(({ first: begin, last, ...day }) => ({
      ...day,
      first_at: isoOf(begin),
      last_at: isoOf(last),
    })),
    answers: figures.answers,
    not_reached: unreached ?? null,
    errors: Object.fromEntries(errors),
    results: results.map(
      ({ to_number, id, disposition, reason, attempts, answered_by, answers }) => ({
        ...{ to_number, id, disposition, reason, attempts, answered_by, answers },
        calls: (calls.get(to_number) ?? []).map(
          ({ startedAt, endedAt, isAnswered, conversation }) => ({
            started_at: isoOf(startedAt),
            ended_at: isoOf(endedAt),
            answered: isAnswered,
            conversation: conversation.map(({ type, text }) => ({
              [type.replace(" ", "_")]: text,
            })),
          }),
        ),
      }),
    ),
  };
};
