import type { FailedNotification } from "../parts.ts";
import type { RecordingFacts } from "../recorder.ts";

/** How near a limit is. */
export interface LimitUse {
  /** Such as `calls at once`. */
  readonly name: string;
  readonly used: number;
  readonly most: number;
}

/** What the page shows beside the calls. */
export interface PageState {
  /** Whether Asterisk is reached. */
  readonly isReady: boolean;
  readonly notifications: readonly FailedNotification[];
  readonly limits: readonly LimitUse[];
  /** Absent when nothing is recorded. */
  readonly recordings?:
    | { readonly bytes: number; readonly latest: readonly RecordingFacts[] }
    | undefined;
}

/** The names of limits, by their settings. */
const names = {
  callsPerSecond: "calls a second",
  callsAtOnce: "calls at once",
  minutesPerDay: "minutes today",
  minutesPerDayToNumber: "minutes today to one number",
} as const;

type Limits = Readonly<Record<keyof typeof names, number>>;

/** How near the limits of an exchange are. Minutes that have begun count. */
export const limitUses = (used: Limits, most: Limits): readonly LimitUse[] => {
  const use = (key: keyof Limits): LimitUse => ({
    name: names[key],
    used: Math.ceil(used[key]),
    most: most[key],
  });
  return [
    use("callsAtOnce"),
    use("callsPerSecond"),
    use("minutesPerDay"),
    use("minutesPerDayToNumber"),
  ];
};
