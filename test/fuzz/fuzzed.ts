import type { Entry } from "../conformance/entries.ts";
import type { Carrier } from "../conformance/services/carrier.ts";

/** What is fuzzed: the entries, with a carrier or with outdial's own interface. */
export interface Subject {
  readonly entries: readonly Entry[];
  readonly carrier?: Carrier;
}

/** What a run of the fuzz came to. */
export interface Fuzzed {
  readonly runs: number;
  readonly placed: number;
  readonly no: number;
  readonly maybe: number;
  readonly aborted: number;
}

/** The sum of several. */
export const sum = (parts: readonly Fuzzed[]): Fuzzed =>
  parts.reduce(
    (all, one) => ({
      runs: all.runs + one.runs,
      placed: all.placed + one.placed,
      no: all.no + one.no,
      maybe: all.maybe + one.maybe,
      aborted: all.aborted + one.aborted,
    }),
    { runs: 0, placed: 0, no: 0, maybe: 0, aborted: 0 },
  );
