import { UsageError } from "../command/failure.ts";

const units: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400 };

/**
 * The seconds of `90s`, `15m`, `1h30m` or `2d`; a number alone is seconds.
 *
 * @throws {UsageError} when it is none
 */
export const secondsOf = (flag: string, text: string): number => {
  if (!/^(\d+|(\d+[smhd])+)$/.test(text)) {
    throw new UsageError(`--${flag} must be a time such as 90s, 15m or 1h30m`);
  }
  let seconds = 0;
  for (const [, amount, unit = "s"] of text.matchAll(/(\d+)([smhd]?)/g)) {
    seconds += Number(amount) * (units[unit || "s"] ?? 1);
  }
  return seconds;
};

/** Seconds in the two units that tell most: `2 h 5 min`. */
export const spanOf = (seconds: number): string => {
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
