/** Texts of times by the clock of one zone. */
export interface LocalTimes {
  /** `Mon 2026-11-23`. */
  readonly day: (at: number) => string;
  /** `09:00`. */
  readonly time: (at: number) => string;
  readonly timezone: string;
}

/** @param timezone - an IANA time zone; by default this machine's own */
export const localTimes = (timezone?: string): LocalTimes => {
  const format = new Intl.DateTimeFormat("en", {
    ...(timezone !== undefined && { timeZone: timezone }),
    ...{ weekday: "short", year: "numeric", month: "2-digit", day: "2-digit" },
    ...{ hour: "2-digit", minute: "2-digit", hourCycle: "h23" },
  });
  const partsOf = (at: number): Readonly<Record<string, string>> =>
    Object.fromEntries(format.formatToParts(at).map(({ type, value }) => [type, value]));
  return {
    day: (at) => {
      const { weekday, year, month, day } = partsOf(at);
      return `${weekday} ${year}-${month}-${day}`;
    },
    time: (at) => {
      const { hour, minute } = partsOf(at);
      return `${hour}:${minute}`;
    },
    timezone: format.resolvedOptions().timeZone,
  };
};
