import { dispositionNames } from "../../campaigns/disposition.ts";
import {
  type AnswerFigures,
  type Disposition,
  dispositions,
  type Figures,
  type Progress,
} from "../../campaigns/index.ts";

/** Calls, and who answered them. */
export interface CallFigures {
  readonly calls: number;
  /** Answered by a person, or by somebody who was not detected as a machine. */
  readonly people: number;
  readonly machines: number;
}

/** The figures of a ledger, as the report has them. */
export interface ReportData {
  /** The name of the file. */
  readonly ledger: string;
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
  readonly answers: readonly AnswerFigures[];
  /** Contacts that wait for a time that was agreed on. */
  readonly callBacks: Figures["callBacks"];
  /** What the carrier charged, by currency, as far as it reported it. */
  readonly costs: Figures["costs"];
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

/** What looks like a telephone number: 7 digits or more, with what may stand between them. */
const telephone = /\+?\(?\p{Nd}(?:[^\p{L}\p{Nd}:]{0,5}\p{Nd}){6,}/gu;

/** Answers without anything that looks like a telephone number. */
const withoutNumbers = (answers: readonly AnswerFigures[]): readonly AnswerFigures[] =>
  answers.map(({ values, ...answer }) => {
    const all = new Map<string, number>();
    for (const { value, contacts } of values) {
      const shown = value.replace(telephone, "***");
      all.set(shown, (all.get(shown) ?? 0) + contacts);
    }
    return { ...answer, values: [...all].map(([value, contacts]) => ({ value, contacts })) };
  });

interface ReportOptions {
  readonly ledger: string;
  readonly timezone: string;
  readonly now: number;
  /** Whether telephone numbers in answers stay. */
  readonly hasNumbers: boolean;
}

/** Computes what a report shows. */
export const reportDataOf = (
  progress: Progress,
  figures: Figures,
  { ledger, timezone, now, hasNumbers }: ReportOptions,
): ReportData => {
  const { state, reason, done, contacts, waiting, calling, unclear } = progress;
  const { quarters, answers, attempts, callBacks, costs } = figures;
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
    ...{ ledger, at: new Date(now).toISOString(), timezone },
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
    answers: hasNumbers ? answers : withoutNumbers(answers),
    callBacks,
    costs,
  };
};

/** A share in percent; a dash of nothing. */
export const percent = (part: number, whole: number): string =>
  whole === 0 ? "–" : `${((100 * part) / whole).toFixed(1)} %`;

/** A count with its noun: `1 call`, `2,000 calls`. */
export const counted = (count: number, noun: string): string =>
  `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;
