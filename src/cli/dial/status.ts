import { dispositions } from "../../campaigns/disposition.ts";
import type { Progress } from "../../campaigns/index.ts";
import { spanOf } from "./duration.ts";

const bars = 20;

/** How a run stands, beside what the journal says. */
export interface Standing {
  /** Calls a second as they are now. */
  readonly rate: number;
  /** When it is the next contact's turn, in milliseconds since 1970: in its hours, after its wait. */
  readonly opens: number;
  readonly now: number;
  /** Whether nothing more is dialled, and what lives is waited for. */
  readonly stopping: boolean;
}

/** A line that tells how far a run is: bar, done, live, pace, dispositions, time left. */
export const statusLine = (progress: Progress, standing: Standing): string => {
  const { contacts, waiting, calling } = progress;
  const { rate, opens, now, stopping } = standing;
  const done = contacts - waiting - calling;
  const filled = contacts > 0 ? Math.floor((done / contacts) * bars) : 0;
  const bar = `[${"#".repeat(filled)}${"-".repeat(bars - filled)}]`;
  const ends = dispositions
    .filter((name) => progress[name] > 0)
    .map((name) => `${progress[name]} ${name.replace("_", " ")}`)
    .join(", ");
  const rest = stopping
    ? calling > 0 && "stopping: waiting for the live calls; ctrl-C again leaves them"
    : waiting > 0
      ? opens > now
        ? `next call in ${spanOf((opens - now) / 1000)}`
        : `${spanOf(waiting / rate)} left at ${Number(rate.toFixed(2))}/s`
      : calling > 0 && "waiting for the last calls";
  return [`${bar} ${done}/${contacts}`, `${calling} live`, rest, ends].filter(Boolean).join("  ");
};

/** How often it is told, in milliseconds: on a terminal in place, elsewhere as a line now and then. */
const rhythm = { terminal: 250, elsewhere: 30_000 } as const;

/** Keeps telling on stderr how a run stands; gives what ends that, with the last line. */
export const tell = (line: () => string): (() => void) => {
  const { isTTY, columns } = process.stderr;
  // Some terminals tell none, or 0.
  const width = columns || 80;
  const write = isTTY
    ? () => process.stderr.write(`\r\u001b[K${line().slice(0, width - 1)}`)
    : () => process.stderr.write(`${line()}\n`);
  const timer = setInterval(write, isTTY ? rhythm.terminal : rhythm.elsewhere);
  return () => {
    clearInterval(timer);
    write();
    if (isTTY) process.stderr.write("\n");
  };
};
