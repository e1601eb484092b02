import { dispositions, type Progress } from "../../campaigns/index.ts";
import type { Terminal } from "../terminal.ts";
import { durationText } from "./durations.ts";
import { isStopped } from "./stopping.ts";

/** The state of a run, beside what the ledger counts. */
export interface RunState {
  /** Calls per second at present. */
  readonly rate: number;
  /** When the next call may begin, in milliseconds since 1970. */
  readonly nextCall: number;
  /** When the last call begins at this rate, within the hours, in milliseconds since 1970. */
  readonly end: number;
  /** Whether the live calls are as many as there may be, and none began for the last minute. */
  readonly isFull?: boolean | undefined;
  readonly now: number;
  /** Whether no further call begins, and the live ones are awaited. */
  readonly stopping: boolean;
  /** Why calls cannot be placed at present. */
  readonly trouble?: string | undefined;
}

/** How long the calls that began are counted, in milliseconds. */
const speedWindow = 60_000;

/** Measures how many calls begin per second, where live calls are the limit and not the rate. */
export class Speed {
  readonly #samples: { readonly at: number; readonly begun: number }[] = [];

  /** @returns calls per second over the last minute, once at least 2 s are measured */
  measure({ contacts, waiting }: Pick<Progress, "contacts" | "waiting">, now: number) {
    const begun = contacts - waiting;
    this.#samples.push({ at: now, begun });
    while ((this.#samples[0]?.at ?? now) < now - speedWindow) this.#samples.shift();
    const [first] = this.#samples;
    if (!first || now - first.at < 2_000) return;
    return ((begun - first.begun) * 1000) / (now - first.at);
  }
}

const barLength = 20;

/** How many contacts ended how: `2 completed, 1 no answer`. */
const endingsText = (progress: Progress): string =>
  Object.entries(progress)
    .filter(([name, count]) => Object.hasOwn(dispositions, name) && Number(count) > 0)
    .map(([name, count]) => `${count} ${name.replaceAll("_", " ")}`)
    .join(", ");

/** The time of day here; with the date if that is another day. */
const clockText = (at: number, now: number): string => {
  const date = new Date(at);
  const [day, today] = [date, new Date(now)].map((each) => each.toDateString());
  const time = date.toTimeString().slice(0, 5);
  return day === today ? time : `${date.toLocaleDateString("sv")} ${time}`;
};

/** `20 live, the oldest for 3 min`. */
const liveText = ({ calling, callingSince }: Progress, now: number): string =>
  calling > 0 && callingSince !== undefined && callingSince < now
    ? `${calling} live, the oldest for ${durationText((now - callingSince) / 1000)}`
    : `${calling} live`;

/** `1 unclear, until 01:22`: what may have been called, and when that is given up. */
const unclearText = ({ unclear, unclearUntil }: Progress, now: number): string => {
  if (unclear === 0) return "";
  const until = unclearUntil === undefined ? "" : `, until ${clockText(unclearUntil, now)}`;
  return `${unclear} unclear${until}`;
};

const waitingText = ({ waiting, calling, unclear }: Progress, state: RunState): string => {
  const { stopping, nextCall, now, end, rate, isFull } = state;
  if (stopping) {
    return calling > 0 ? "stopping: waiting for the live calls; ctrl-C again leaves them" : "";
  }
  if (waiting === 0) {
    if (calling > 0) return "waiting for the last calls";
    return unclear > 0 ? "waiting for what is unclear; ctrl-C leaves it to the ledger" : "";
  }
  // A shorter wait is only the rate.
  if (nextCall - now > 1500 / rate + 1000) {
    return Number.isFinite(nextCall)
      ? `${waiting} waiting, next call in ${durationText((nextCall - now) / 1000)}`
      : `${waiting} waiting, never within these hours`;
  }
  if (isFull) return `${waiting} waiting until a live call ends`;
  const left = Number.isFinite(end) ? `, about ${durationText((end - now) / 1000)} left` : "";
  return `${waiting} waiting${left} at ${Number(rate.toFixed(2))}/s`;
};

/**
 * The progress of a run on one line, the most important part first.
 *
 * @param width - columns; a part that does not fit is left out
 */
export const statusLine = (progress: Progress, state: RunState, width: number): string => {
  const { contacts, waiting, calling, unclear } = progress;
  const done = contacts - waiting - calling - unclear;
  const filled = contacts > 0 ? Math.floor((done / contacts) * barLength) : 0;
  const parts = [
    `${done}/${contacts} done`,
    state.trouble ?? "",
    waitingText(progress, state),
    unclearText(progress, state.now),
    liveText(progress, state.now),
    endingsText(progress),
    `[${"#".repeat(filled)}${"-".repeat(barLength - filled)}]`,
  ];
  let line = "";
  for (const part of parts.filter(Boolean)) {
    const longer = line ? `${line}  ${part}` : part;
    if (longer.length <= width) line = longer;
  }
  return line || parts.join("  ").slice(0, width);
};

/** The last lines of a run: what became of the list, and the next step. */
export const summaryLines = (
  progress: Progress,
  { ledger, interrupted }: { readonly ledger: string; readonly interrupted: boolean },
): readonly string[] => {
  const { contacts, waiting, calling, unclear, unknown, state, reason } = progress;
  const done = contacts - waiting - calling - unclear;
  const ended = endingsText(progress);
  const results = `outdial results ${ledger} > results.csv`;
  return [
    `${done} of ${contacts} done${ended ? `: ${ended}` : ""}`,
    ...(unknown > 0
      ? [
          `${unknown} unknown: may have been called, and are not called again. Find them in the results,`,
          "and look the calls up at the service before you call them by hand.",
        ]
      : []),
    ...(unclear > 0
      ? [
          `${unclear} unclear: may have been called. The ledger keeps them, and the next run settles them.`,
        ]
      : []),
    ...(interrupted && !isStopped(progress)
      ? [`Interrupted with ${waiting} waiting: the same command resumes where it left off.`]
      : []),
    ...(isStopped(progress)
      ? ["Stopped by outdial stop: the same command with --resume dials on."]
      : []),
    ...(state === "paused" && !interrupted && !isStopped(progress)
      ? [`Paused: ${reason}. Once that is fixed, the same command resumes where it left off.`]
      : []),
    `Next: ${results}`,
  ];
};

/** Time between two lines, in milliseconds: on a terminal in place, elsewhere as a new line. */
const interval = { terminal: 250, elsewhere: 30_000 } as const;

/** What a status line needs of a terminal. */
export type StatusTerminal = Pick<Terminal, "columns" | "report" | "replaceLine">;

/**
 * Keeps a status line on stderr. It ends by itself if the line cannot be computed: the command fails for the same
 * reason, in words.
 *
 * @param line - the line for a width in columns
 * @returns ends it; on a terminal the line is cleared
 */
export const showStatus = (
  terminal: StatusTerminal,
  line: (width: number) => string,
): (() => void) => {
  const { columns } = terminal;
  let timer: ReturnType<typeof setInterval> | undefined;
  let isShown = true;
  const hide = () => {
    clearInterval(timer);
    if (isShown && columns !== undefined) terminal.replaceLine("");
    isShown = false;
  };
  const write = () => {
    try {
      if (columns === undefined) terminal.report(line(Number.POSITIVE_INFINITY));
      else terminal.replaceLine(line(columns - 1));
    } catch {
      hide();
    }
  };
  if (columns !== undefined) write();
  if (isShown) {
    timer = setInterval(write, columns === undefined ? interval.elsewhere : interval.terminal);
  }
  return hide;
};
