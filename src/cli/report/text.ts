import { counted, plain } from "../terminal.ts";
import { type CallFigures, percent, type ReportData } from "./data.ts";

const number = (value: number): string => value.toLocaleString("en");

const barLength = 24;

const bar = (part: number, whole: number): string =>
  "█".repeat(whole === 0 ? 0 : Math.max(part > 0 ? 1 : 0, Math.round((part / whole) * barLength)));

/** Rows of a name, a count, its share and a bar, in columns. */
const shares = (
  rows: readonly (readonly [name: string, count: number])[],
  whole: number,
): readonly string[] => {
  const names = rows.map(([name]) => plain(name).slice(0, 40));
  const width = Math.max(0, ...names.map((name) => name.length));
  const counts = Math.max(0, ...rows.map(([, count]) => number(count).length));
  return rows.map(([, count], at) =>
    `  ${names[at]?.padEnd(width)}  ${number(count).padStart(counts)}  ${percent(count, whole).padStart(7)}  ${bar(count, whole)}`.trimEnd(),
  );
};

/** Rows of calls: how many, and how many of them a person answered. */
const rates = (
  rows: readonly (readonly [name: string, figures: CallFigures])[],
): readonly string[] => {
  const width = Math.max(0, ...rows.map(([, { calls }]) => number(calls).length));
  return rows.map(([name, { calls, people }]) =>
    `  ${name}  ${number(calls).padStart(width)}  ${percent(people, calls).padStart(7)}  ${bar(people, calls)}`.trimEnd(),
  );
};

const section = (title: string, lines: readonly string[]): readonly string[] =>
  lines.length === 0 ? [] : ["", title, ...lines];

const timeIn = (at: number, timezone: string): string =>
  new Date(at).toLocaleString("sv-SE", {
    timeZone: timezone,
    dateStyle: "short",
    timeStyle: "short",
  });

/** What a report says of waiting call-backs. */
export const callBacksText = ({ callBacks, timezone }: ReportData): string => {
  const { waiting, next } = callBacks;
  if (waiting === 0) return "";
  const when = next === undefined ? "" : `, the first at ${timeIn(next, timezone)}`;
  return `${number(waiting)} to be called at a time that was agreed on${when}`;
};

/** What a report says of costs. */
export const costsText = ({ costs }: ReportData): string => {
  if (costs.length === 0) return "";
  const sums = costs.map(({ currency, sum, calls }) => {
    const amount = sum.toLocaleString("en", { maximumFractionDigits: 8 });
    return `${amount}${currency ? ` ${currency}` : ""} for ${counted(calls, "call")}`;
  });
  return `Cost, as the carrier reports it: ${sums.join(", ")}`;
};

/** Services with their calls, in a column as wide as the longest name. */
const serviceRows = ({ services = [] }: ReportData) => {
  const width = Math.max(0, ...services.map(({ name }) => name.length));
  return services.map((each) => [each.name.padEnd(width), each] as const);
};

/** The lines of a report for a terminal. */
export const reportLines = (data: ReportData): readonly string[] => {
  const { title, state, reason, contacts, calls, timezone } = data;
  const { waiting, calling, unclear } = contacts;
  const ended = contacts.contacts - waiting - calling - unclear;
  const counts = [
    `${number(ended)} ended`,
    ...(waiting > 0 ? [`${number(waiting)} waiting`] : []),
    ...(calling > 0 ? [`${number(calling)} live`] : []),
    ...(unclear > 0 ? [`${number(unclear)} unclear`] : []),
  ];
  return [
    `${plain(title)}: ${state}${reason ? ` (${plain(reason)})` : ""}`,
    `${counted(contacts.contacts, "contact")}: ${counts.join(", ")}`,
    `${counted(calls.calls, "call")}: ${percent(calls.people, calls.calls)} answered by people, ${percent(calls.machines, calls.calls)} by machines`,
    ...[callBacksText(data), costsText(data)].filter(Boolean),
    ...section(
      "How contacts ended",
      shares(
        data.dispositions.map(({ name, contacts: count }) => [name, count]),
        ended,
      ),
    ),
    ...section(
      "Attempts of a contact",
      shares(
        data.attempts.map((count, at) => [String(at + 1), count]),
        contacts.contacts,
      ),
    ),
    ...section(
      `Calls and answer rate by hour, ${timezone}`,
      rates(data.hours.map(({ hour, ...each }) => [`${String(hour).padStart(2, "0")}:00`, each])),
    ),
    ...section(
      `Calls and answer rate by day, ${timezone}`,
      rates(data.days.map(({ date, ...each }) => [date, each])),
    ),
    ...section("Calls and answer rate by service", rates(serviceRows(data))),
    ...data.answers.flatMap(({ name, text, contacts: all, values, optedOut }) => {
      const out = optedOut.reduce((sum, each) => sum + each.contacts, 0);
      const pressed = optedOut.map(
        ({ value, contacts: some }) => `${plain(value)}: ${number(some)}`,
      );
      return section(`Answers: ${plain(text ?? name)} (${counted(all - out, "contact")})`, [
        ...shares(
          values.map(({ value, contacts: count }) => [value, count]),
          all - out,
        ),
        ...(out > 0
          ? [`  ${counted(out, "contact")} asked not to be called again (${pressed.join(", ")})`]
          : []),
      ]);
    }),
  ];
};
