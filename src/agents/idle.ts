import type { Timers } from "../lib/timers.ts";

/** How often it is checked whether something has ended that is no silence, in ms. */
const interval = 250;

/** Less audible audio of the callee than this is no speech, in ms. */
const minSpeech = 100;

/** What silence is measured by. */
export interface IdleListener {
  /** When the callee has heard everything, by the clock. */
  readonly until: () => number;
  /** Whether somebody speaks, or something runs. */
  readonly isBusy: () => boolean;
  readonly onIdle: (count: number) => void;
}

/**
 * Counts the silences of both sides.
 *
 * @param timeout - milliseconds
 * @returns called when the callee is audible for so many ms, or has pressed a key
 */
export const createIdle = (
  timeout: number,
  timers: Timers,
  { until, isBusy, onIdle }: IdleListener,
): ((ms?: number) => void) => {
  let count = 0;
  let soundMs = 0;
  let since = timers.now();
  const idleAt = () => {
    if (!isBusy()) return Math.max(since, until()) + timeout;
    since = timers.now();
    return since + interval;
  };
  const begin = () => {
    timers.wait("idle", idleAt, () => {
      since = timers.now();
      onIdle(++count);
      begin();
    });
  };
  begin();
  return (ms = minSpeech) => {
    since = timers.now();
    soundMs += ms;
    if (soundMs >= minSpeech) count = soundMs = 0;
  };
};
