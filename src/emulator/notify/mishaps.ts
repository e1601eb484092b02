import type { Random } from "../random.ts";

/**
 * What goes wrong on the way of notifications, as it does on real networks. Each is a probability from 0,
 * never, to 1, always; by the option `seed` it is the same on every run.
 */
export interface Mishaps {
  /** It is never sent. */
  readonly lost?: number | undefined;
  /** Once it has arrived, it comes again after a while, with the same id. */
  readonly doubled?: number | undefined;
  /** It is sent after a while, and what is told later overtakes it. */
  readonly late?: number | undefined;
  /**
   * The longest of such whiles, in milliseconds by the emulator's clock.
   *
   * @defaultValue 10 000
   */
  readonly lateBy?: number | undefined;
}

/** What befalls one notification. */
export interface Fate {
  readonly isLost: boolean;
  /** Milliseconds after which it comes again, or is sent at all. */
  readonly doubledAfter?: number | undefined;
  readonly lateBy?: number | undefined;
}

/** What befalls the next notification. */
export const fateOf = (
  { lost = 0, doubled = 0, late = 0, lateBy = 10_000 }: Mishaps,
  random: Random,
): Fate => ({
  isLost: random() < lost,
  doubledAfter: random() < doubled ? random() * lateBy : undefined,
  lateBy: random() < late ? random() * lateBy : undefined,
});
