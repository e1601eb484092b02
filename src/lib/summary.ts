/** A figure over several values, in milliseconds; every field but `n` is absent where there is too little. */
export interface Summary {
  /** How many values there are. */
  readonly n: number;
  /** The smallest. */
  readonly min?: number | undefined;
  /** The median. */
  readonly p50?: number | undefined;
  /** From 20 values on. */
  readonly p95?: number | undefined;
  /** From 100 values on. */
  readonly p99?: number | undefined;
  /** The greatest. */
  readonly max?: number | undefined;
}

export const summaryOf = (values: readonly number[]): Summary => {
  const sorted = [...values].sort((one, other) => one - other);
  const n = sorted.length;
  /** By linear interpolation. */
  const percentile = (part: number): number => {
    const place = (n - 1) * part;
    const low = sorted[Math.floor(place)] ?? 0;
    const high = sorted[Math.ceil(place)] ?? low;
    return low + (high - low) * (place % 1);
  };
  if (n === 0) return { n };
  return {
    n,
    min: percentile(0),
    p50: percentile(0.5),
    ...(n >= 20 && { p95: percentile(0.95) }),
    ...(n >= 100 && { p99: percentile(0.99) }),
    max: percentile(1),
  };
};
