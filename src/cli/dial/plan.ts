import type {
  ListColumns,
  ListRows,
  Progress,
  RefusedContact,
  SyncPlan,
} from "../../campaigns/index.ts";
import { defaultRate } from "../../campaigns/options.ts";
import { counted, plain } from "../terminal.ts";
import { describeColumns } from "./csv.ts";
import { daysOffText } from "./days-off.ts";
import { durationText } from "./durations.ts";
import type { DialOptions, DialService } from "./options.ts";
import { retriesText } from "./retries.ts";

/** Most refused lines that are named per reason. */
const mostLines = 20;

/** The lines of some rows. */
const linesText = ({ count: amount, lines }: ListRows): string => {
  const more = amount > lines.length ? ` and ${amount - lines.length} more` : "";
  return `line ${lines.join(", ")}${more}`;
};

/** What is said of people with several numbers. */
const peopleWarnings = ({ sharedIds, corrected }: SyncPlan): readonly string[] => [
  ...(sharedIds.count > 0
    ? [
        `${counted(sharedIds.count, "row")} share an id with another number: one person, of whom all numbers are blocked once one is: ${linesText(sharedIds)}`,
      ]
    : []),
  ...(corrected.count > 0
    ? [
        `${counted(corrected.count, "row")} ${corrected.count === 1 ? "has" : "have"} another number for an id that was called by a number that is no longer in the list: called once more: ${linesText(corrected)}`,
      ]
    : []),
];

/** The refused lines of a list, by reason. */
const refusals = (refused: readonly RefusedContact[]): readonly string[] => {
  const lines = new Map<string, number[]>();
  for (const { line, reason } of refused) {
    const all = lines.get(reason);
    if (all) all.push(line);
    else lines.set(reason, [line]);
  }
  return [...lines].map(([reason, all]) => {
    const more = all.length > mostLines ? ` and ${all.length - mostLines} more` : "";
    return `refused: ${reason}: line ${all.slice(0, mostLines).join(", ")}${more}`;
  });
};

/** All days off: each window has the same. */
const daysOff = ({ window }: DialOptions): string =>
  window === "always" ? "" : daysOffText(window[0]?.except ?? [], Date.now());

const sendersOf = ({ from_number }: DialService): string =>
  typeof from_number === "string"
    ? `from ${from_number}`
    : `from ${from_number.join(", ")} (each contact by one of them)`;

const hoursOf = ({ window }: DialOptions): string =>
  window === "always"
    ? "at any hour"
    : window.map(({ days, from, to, timezone }) => `${days} ${from}-${to} ${timezone}`).join(", ");

/** The progress of a campaign once a plan is applied. */
export const progressAfter = (
  progress: Progress,
  { added, blocked, newlyBlocked, restored, removed }: SyncPlan,
): Progress => {
  const waiting = progress.waiting + added + restored - newlyBlocked - removed;
  return {
    ...progress,
    waiting,
    contacts: progress.contacts + added + blocked,
    blocked: progress.blocked + blocked + newlyBlocked,
    canceled: progress.canceled + removed - restored,
    done: waiting + progress.calling + progress.unclear === 0,
  };
};

interface Plan {
  readonly columns: ListColumns | undefined;
  /** All refused rows: those that are no contact, and those that the campaign refuses. */
  readonly refused: readonly RefusedContact[];
  readonly changes: SyncPlan;
  /** Of the handlers of the flow and of the notifications. */
  readonly warnings: readonly string[];
  /** Of the campaign, before the plan is applied. */
  readonly progress: Progress;
  /** When the ledger was changed, if there was one. */
  readonly lastChange: Date | undefined;
  readonly options: DialOptions;
  /** Where opt-outs are written, if they are. */
  readonly optOutPath: string | undefined;
  /** Whether a request of this process can be seen to be sent once. */
  readonly isSentOnce: boolean;
}

const recordingLine = ({ record, services }: DialOptions): string => {
  if (record === false) return "not recorded";
  const carriers = services.flatMap(({ service }) =>
    typeof service === "object" ? [service.name] : [],
  );
  return carriers.length === services.length
    ? `not recorded, unless ${[...new Set(carriers)].join(" or ")} does so by itself`
    : "RECORDED: people must be told, in many places before the call goes on (--no-record)";
};

/** What a service is called by, and which numbers call. */
const serviceLines = ({ services, flowName }: DialOptions): readonly string[] =>
  services.flatMap((own) => {
    const { name, service, flow_url, rate = defaultRate } = own;
    const by = `by ${typeof service === "object" ? `${service.name}, account ${service.account}` : service}`;
    const from = `${sendersOf(own)}, flow ${flowName ?? flow_url}`;
    return name === undefined ? [by, from] : [`${name}: ${by}, ${rate} per second, ${from}`];
  });

const dispatcherLine =
  "this process has its own fetch or dispatcher: a refused connection is unclear, not tried again (docs/runtimes.md)";

/** Warns that nobody who waits is called any more: a year may be mistyped, and an expired contact is not called later. */
const overWarning = ({ until }: DialOptions, waiting: number): readonly string[] =>
  until && until.getTime() <= Date.now() && waiting > 0
    ? [
        `--until is over: no call begins, and ${counted(waiting, "waiting contact")} end${waiting === 1 ? "s" : ""} as expired, for good`,
      ]
    : [];

/** What a run is about to do, in a few lines. */
export const planLines = (plan: Plan): readonly string[] => {
  const { columns, refused, changes, warnings, progress, options, isSentOnce, lastChange } = plan;
  const { optOutPath } = plan;
  const { until, perDay } = options;
  const sum = options.services.reduce((all, { rate: own = defaultRate }) => all + own, 0);
  const rate = Number(sum.toPrecision(12)); // Of 0.1 and 0.2 it is not 0.30000000000000004.
  const { listed, duplicate, added, blocked, restored, changed, removed, appointments } = changes;
  const after = progressAfter(progress, changes);
  const { contacts } = after;
  const over = overWarning(options, after.waiting);
  const waiting = over.length > 0 ? 0 : after.waiting;
  const notes = [
    [listed - added - blocked, "already in the ledger"],
    [duplicate, "with the telephone of an earlier row"],
    [changed, "waiting, and changed as in the list"],
    [appointments, "new, to be called at a time of their own"],
    [restored, "left out before, and in the list again"],
    [removed, "no longer in the list: not called"],
    [after.blocked, "on the do-not-call list"],
    [refused.length, "refused"],
  ] as const;
  const noted = notes
    .filter(([amount]) => amount > 0)
    .map(([amount, note]) => `; ${amount.toLocaleString("en")} ${note}`);
  const daily = perDay ? `, at most ${perDay} per day` : "";
  const summary = `${counted(waiting, "contact")} to call, of ${counted(contacts, "contact")}${noted.join("")}`;
  const details = [
    ...[...over, ...changes.warnings, ...peopleWarnings(changes), ...warnings].map(
      (warning) => `warning: ${warning}`,
    ),
    ...refusals(refused),
    ...(columns ? [describeColumns(columns)] : []),
    `${rate} per second: at least ${durationText(waiting / rate)} of dialling${daily}`,
    `${hoursOf(options)}${until ? `, until ${until.toISOString()}` : ""}`,
    ...[daysOff(options), retriesText(changes.retries)].filter(Boolean),
    ...serviceLines(options),
    ...(optOutPath === undefined
      ? []
      : [`opt-outs go to ${optOutPath} (--opt-outs): who is in it is blocked`]),
    recordingLine(options),
    ...(isSentOnce ? [] : [dispatcherLine]),
    ...(lastChange && progress.contacts > 0
      ? [`ledger of ${lastChange.toISOString()}: a restored backup would call again whom it lacks`]
      : []),
  ];
  // The names of columns are text of the list, which must not control a terminal.
  return [summary, ...details.map((line) => `  ${plain(line)}`)];
};
