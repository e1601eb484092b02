import type { Playback } from "../flows/media/playback.ts";
import type { Timers } from "../lib/timers.ts";

/** How much later than by our clock the last audio may be played, in ms. */
export const maxDelay = 30_000;

/** A response of which nothing more has come for so long, once all of it was played, is complete, in ms. */
export const maxGap = 3000;

/** How often both are checked, in ms. */
const interval = 250;

/**
 * Calls a function once everything was played, or should have been long ago.
 *
 * @param isWanted - whether it still is to be called
 * @param silentAt - when the callee is silent, by the clock: it isn't called before
 */
export const whenPlayed = (
  playback: Playback,
  timers: Timers,
  work: () => void,
  isWanted: () => boolean = () => true,
  silentAt: () => number = () => 0,
): void => {
  const from = timers.now();
  const giveUp = () => {
    if (!isWanted()) return;
    const late = timers.now() - Math.max(from, playback.until);
    if (late >= maxGap) playback.endAll();
    if (late >= maxDelay) work();
    else timers.set("late", interval, giveUp);
  };
  const wait = () =>
    timers.wait("pause", silentAt, () => {
      if (isWanted()) playback.played().then(onPlayed);
    });
  const onPlayed = () => {
    if (silentAt() > timers.now()) wait();
    else if (isWanted()) work();
  };
  giveUp();
  wait();
};
