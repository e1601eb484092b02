import type { Acknowledged } from "./playback.ts";

/** What a service has played, as it says in messages of the type `played`. */
export interface PlayedReports extends Acknowledged {
  /** So many milliseconds of all audio were played or dropped. */
  readonly played: (ms: unknown) => void;
  /** The line was cleared. */
  readonly clear: () => void;
}

/**
 * What a service has played, by its reports. How late a report is by the clock of the playback is the delay of the network, both
 * ways, and how much the service is behind; it is not behind when the first audio comes to an idle line. So audio that a stalled
 * service delays doesn't count as played once it plays on.
 *
 * @param use - requests the reports
 */
export const createReports = (now: () => number, use: () => unknown): PlayedReports => {
  /** Milliseconds of all audio, and those that are over. */
  let sent = 0;
  let over = 0;
  /** When all of it is over by the clock of the playback. */
  let end = 0;
  let delay = 0;
  let late = 0;
  let reportedAt = Number.NEGATIVE_INFINITY;
  // Times of clocks are not exact.
  const isWaiting = () => sent - over > 1;
  return {
    use,
    clear: () => {
      over = sent;
    },
    sent: (_, from, until) => {
      // Until the first report of it comes, it counts as late as what was before.
      if (!isWaiting()) delay = Number.POSITIVE_INFINITY;
      sent += until - from;
      end = until;
    },
    played: (ms) => {
      over = Number(ms) || 0;
      reportedAt = now();
      const behind = reportedAt - end + sent - over;
      delay = Math.min(delay, behind);
      late = behind - delay;
    },
    playedAt: (time, isLeft) =>
      isWaiting()
        ? // Who has left heard nothing of what was on its way, nor of what the latest report was too late for.
          time - late - (isLeft ? delay : 0)
        : Number.POSITIVE_INFINITY,
    lastAt: () => (isWaiting() ? Number.POSITIVE_INFINITY : reportedAt),
  };
};
