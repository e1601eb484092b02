import { UsageError } from "../command.ts";

/** Milliseconds per unit. */
const units: Readonly<Record<string, number>> = {
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/** The most days of a duration: ten years. */
const mostDays = 3_650;

/**
 * The milliseconds of `90s`, `15m`, `1h30m` or `2d`; a number alone is seconds.
 *
 * @param least - seconds
 * @throws {UsageError} if it is not a duration, or out of its range
 */
export const durationOf = (flag: string, text: string, least = 0): number => {
  if (!/^(\d+|(\d+[smhd])+)$/.test(text)) {
    throw new UsageError(`--${flag} must be a time such as 90s, 15m or 1h30m`);
  }
  let total = 0;
  for (const [, amount, unit = "s"] of text.matchAll(/(\d+)([smhd]?)/g)) {
    total += Number(amount) * (units[unit || "s"] ?? 0);
  }
  if (total > mostDays * (units.d ?? 0)) {
    throw new UsageError(`--${flag} must be at most ${mostDays}d`);
  }
  if (total < least * 1_000) throw new UsageError(`--${flag} must be ${least}s or more`);
  return total;
};

/** Seconds in their two largest units: `2 h 5 min`. */
export const durationText = (seconds: number): string => {
  const parts = [
    [Math.floor(seconds / 86_400), "d"],
    [Math.floor((seconds % 86_400) / 3_600), "h"],
    [Math.floor((seconds % 3_600) / 60), "min"],
    [Math.ceil(seconds % 60), "s"],
  ] as const;
  const first = parts.findIndex(([amount]) => amount > 0);
  if (first < 0) return "0 s";
  return parts
    .slice(first, first + 2)
    .filter(([amount]) => amount > 0)
    .map(([amount, unit]) => `${amount} ${unit}`)
    .join(" ");
};
