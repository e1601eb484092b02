import { readFileSync } from "node:fs";

/** A mutant that no test notices, and why none has to. */
export interface Survivor {
  readonly file: string;
  /** The line on which the mutated piece begins. */
  readonly line: string;
  readonly from: string;
  readonly to: string;
  readonly why: string;
}

export const survivors: readonly Survivor[] = JSON.parse(
  readFileSync(new URL("survivors.json", import.meta.url), "utf8"),
);
