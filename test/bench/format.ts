import type { Summary } from "./statistics.ts";

/** Three digits that count, with a space between thousands. */
export const number = (value: number): string => {
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return value.toFixed(digits).replace(/\B(?=(\d{3})+$)/g, " ");
};

/** The median, and the quartiles behind it. */
export const spread = ({ median, low, high }: Summary): string =>
  `${number(median)} (${number(low)} – ${number(high)})`;

export const kB = (bytes: number): string => `${(bytes / 1000).toFixed(1)} kB`;
