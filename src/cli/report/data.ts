import { dispositionNames } from "../../campaigns/disposition.ts";
import {
  type AnswerFigures,
  type Disposition,
  dispositions,
  type Figures,
  type Progress,
} from "../../campaigns/index.ts";
import { withoutTelephones } from "../../lib/check.ts";

/** Calls, and who answered them. */
export interface CallFigures {
  readonly calls: number;
  /** Answered by a person, or by somebody who was not detected as a machine. */
  readonly people: number;
  readonly machines: number;
}

/** What was answered to a question. */
export interface QuestionFigures extends Omit<AnswerFigures, "values"> {
  /** What was asked; absent where nobody has said it. */
  readonly text?: string | undefined;
  /** Keys in their order, other answers by their number. Without those by which people opted out. */
  readonly values: readonly { readonly value: string; readonly contacts: number }[];
  /** Those who were put on the do-not-call list by their answer. */
  readonly optedOut: readonly { readonly value: string; readonly contacts: number }[];
}

/** The figures of a ledger, as the report has them. */
export interface ReportData {
  /** The name of the file. */
  readonly ledger: string;
  /** What it is called at its top. */
  readonly title: string;
  /** When they were read: ISO 8601. */
  readonly at: string;
  /** The zone of hours and days. */
  readonly timezone: string;
  readonly state: Progress["state"] | "done";
  /** Why it is paused. */
  readonly reason?: string | undefined;
  readonly contacts: Pick<Progress, "contacts" | "waiting" | "calling" | "unclear">;
  /** Contacts that have ended, those first that are most. */
  readonly dispositions: readonly {
    readonly name: Disposition;
    readonly contacts: number;
    readonly meaning: string;
  }[];
  readonly calls: CallFigures;
  /** The hours of the clock, from the first with a call to the last. */
  readonly hours: readonly (CallFigures & { readonly hour: number })[];
  /** Days with a call. */
  readonly days: readonly (CallFigures & { readonly date: string })[];
  /** How many contacts had one attempt, two, and so on. */
  readonly attempts: readonly number[];
  readonly answers: readonly QuestionFigures[];
  /** Contacts that wait for a time that was agreed on. */
  readonly callBacks: Figures["callBacks"];
  /** What the carrier charged, by currency, as far as it reported it. */
  readonly costs: Figures["costs"];
  /** Calls by each of several services. */
  readonly services?: Figures["services"];
}

const none: CallFigures = { calls: 0, people: 0, machines: 0 };

const sum = (one: CallFigures, other: CallFigures): CallFigures => ({
  calls: one.calls + other.calls,
  people: one.people + other.people,
  machines: one.machines + other.machines,
});

/** The date and the hour of an instant in a zone. */
const clockOf = (timezone: string) => {
  const format = new Intl.DateTimeFormat("sv-SE", {
    timeZone: timezone,
    dateStyle: "short",
    timeStyle: "short",
  });
  return (at: number): { readonly date: string; readonly hour: number } => {
    const [date = "", time = ""] = format.format(at).split(" ");
    return { date, hour: Number(time.slice(0, 2)) };
  };
};

const sumsOf = <Key>(
  quarters: Figures["quarters"],
  keyOf: (at: number) => Key,
): ReadonlyMap<Key, CallFigures> => {
  const sums = new Map<Key, CallFigures>();
  for (const quarter of quarters) {
    const key = keyOf(quarter.at);
    sums.set(key, sum(sums.get(key) ?? none, quarter));
  }
  return sums;
};

/** The keys of a telephone in their order, and numbers of several keys. */
const keys = /^[\d*#]{1,6}$/;

type Values = QuestionFigures["values"];

/** Keys in their order, as people were asked for them: 0 after 9, as on a telephone; other answers stay by their number. */
const inOrder = (values: Values): Values => {
  if (!values.every(({ value }) => keys.test(value))) return values;
  const place = (value: string): string =>
    value
      .padStart(6, " ")
      .replace(/[0*#]/g, (key) => ({ "0": ":", "*": ";", "#": "<" })[key] ?? key);
  return [...values].sort((one, other) => (place(one.value) < place(other.value) ? -1 : 1));
};

/** Values that are shown alike become one. */
const merged = (values: Values, shown: (value: string) => string): Values => {
  const all = new Map<string, number>();
  for (const { value, contacts } of values) {
    if (contacts > 0) all.set(shown(value), (all.get(shown(value)) ?? 0) + contacts);
  }
  return inOrder([...all].map(([value, contacts]) => ({ value, contacts })));
};

const questionsOf = (
  answers: readonly AnswerFigures[],
  { hasNumbers, questions = {} }: ReportOptions,
): readonly QuestionFigures[] => {
  const shown = (value: string): string => (hasNumbers ? value : withoutTelephones(value));
  return answers.map(({ name, contacts, values }) => ({
    name,
    ...(Object.hasOwn(questions, name) && { text: questions[name] }),
    contacts,
    values: merged(
      values.map((each) => ({ ...each, contacts: each.contacts - (each.optedOut ?? 0) })),
      shown,
    ),
    optedOut: merged(
      values.map((each) => ({ ...each, contacts: each.optedOut ?? 0 })),
      shown,
    ),
  }));
};

interface ReportOptions {
  readonly ledger: string;
  readonly timezone: string;
  readonly now: number;
  /** Whether telephone numbers in answers stay. */
  readonly hasNumbers: boolean;
  /**
   * What it is called at its top.
   *
   * @defaultValue the name of the file
   */
  readonly title?: string | undefined;
  /** What was asked, by the names of the questions. */
  readonly questions?: Readonly<Record<string, string>> | undefined;
}

/** Computes what a report shows. */
export const reportDataOf = (
  progress: Progress,
  figures: Figures,
  options: ReportOptions,
): ReportData => {
  const { ledger, timezone, now, title = ledger } = options;
  const { state, reason, done, contacts, waiting, calling, unclear } = progress;
  const { quarters, answers, attempts, callBacks, costs, services } = figures;
  const clock = clockOf(timezone);
  const byHour = sumsOf(quarters, (at) => clock(at).hour);
  const first = Math.min(...byHour.keys());
  const length = byHour.size === 0 ? 0 : Math.max(...byHour.keys()) - first + 1;
  const ended = dispositionNames.map((name) => ({
    name,
    contacts: progress[name],
    meaning: dispositions[name].meaning,
  }));
  return {
    ...{ ledger, title, at: new Date(now).toISOString(), timezone },
    state: done && contacts > 0 && state === "running" ? "done" : state,
    ...(reason !== undefined && { reason }),
    contacts: { contacts, waiting, calling, unclear },
    dispositions: ended
      .filter((each) => each.contacts > 0)
      .sort((one, other) => other.contacts - one.contacts),
    calls: quarters.reduce<CallFigures>(sum, none),
    hours: Array.from({ length }, (_, index) => ({
      hour: first + index,
      ...(byHour.get(first + index) ?? none),
    })),
    days: [...sumsOf(quarters, (at) => clock(at).date)].map(([date, each]) => ({ date, ...each })),
    attempts,
    answers: questionsOf(answers, options),
    callBacks,
    costs,
    ...(services && { services }),
  };
};

/** A share in percent; a dash of nothing. */
export const percent = (part: number, whole: number): string =>
  whole === 0 ? "–" : `${((100 * part) / whole).toFixed(1)} %`;
