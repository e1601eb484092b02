/** One of the measurements, as it is kept in results.json and shown in README.md. */
export interface Section {
  readonly title: string;
  /** How it was measured, as Markdown. */
  readonly how: string;
  readonly tables: readonly Table[];
  readonly targets: readonly Target[];
  readonly plots: readonly Plot[];
  /** What can't be measured here, and why. */
  readonly remarks: readonly string[];
  /** All numbers, for results.json. */
  readonly raw: unknown;
}

export interface Table {
  readonly title?: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** A goal, what came out, and whether that is enough. */
export interface Target {
  readonly goal: string;
  readonly measured: string;
  readonly met: boolean;
}

/** Bars with their spread, the least first or as they come. */
export interface Plot {
  /** The name of its file, without `.svg`. */
  readonly file: string;
  readonly title: string;
  readonly unit: string;
  readonly bars: readonly Bar[];
}

interface Bar {
  readonly label: string;
  readonly value: number;
  readonly low: number;
  readonly high: number;
  /** Ours, theirs, and the floor are told apart by colour. */
  readonly kind: "ours" | "floor" | "peer";
}
