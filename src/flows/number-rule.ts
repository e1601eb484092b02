/**
 * The rule of a number from `least` to `most`.
 *
 * @param step - milliseconds of which it is a multiple; a whole number without
 */
export const numberRule =
  (least: number, most: number, step = 1) =>
  (value: unknown): string | undefined => {
    const number = Number.isInteger(value) ? Number(value) : Number.NaN;
    if (number >= least && number <= most && number % step === 0) return;
    return step > 1
      ? `must be ${least} to ${most} ms, in steps of ${step}`
      : `must be a whole number from ${least} to ${most}`;
  };
