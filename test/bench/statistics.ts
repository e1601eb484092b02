/** Many rounds in short: the median, and the quartiles as its spread. */
export interface Summary {
  readonly median: number;
  readonly low: number;
  readonly high: number;
  readonly rounds: number;
}

const quantile = (sorted: readonly number[], part: number): number => {
  const at = (sorted.length - 1) * part;
  const below = sorted[Math.floor(at)] ?? Number.NaN;
  const above = sorted[Math.ceil(at)] ?? Number.NaN;
  return below + (above - below) * (at % 1);
};

export const summary = (values: readonly number[]): Summary => {
  const sorted = values.toSorted((a, b) => a - b);
  return {
    median: quantile(sorted, 0.5),
    low: quantile(sorted, 0.25),
    high: quantile(sorted, 0.75),
    rounds: values.length,
  };
};

/**
 * One to the other, round by round: what slows the machine down in a round slows both, and drops out.
 */
export const ratio = (ones: readonly number[], others: readonly number[]): Summary =>
  summary(ones.map((one, round) => one / (others[round] ?? Number.NaN)));
