// What every measurement is given, and what it returns.
import type { Runtime } from "./processes.ts";
import type { Goals, Subject } from "./subjects.ts";

/** What every measurement is given. */
export interface Bench {
  /** One short round of everything: does it work? */
  readonly smoke: boolean;
  /** The clients that are installed. */
  readonly subjects: readonly Subject[];
  readonly runtimes: readonly Runtime[];
  /** The one of them on which some things are measured alone. */
  readonly node: Runtime;
  /** The URL of the loopback server. */
  readonly server: string;
  /** The built file of a client, an operation or a piece of work, by its name. */
  readonly files: Readonly<Record<string, string>>;
}

export const kindOf = ({ name, peer, transport }: Subject): Kind =>
  peer ? transport : name.startsWith("outdial") ? "ours" : "floor";

/** The one with the least of something, or nobody. */
export const leastOf = <T>(some: readonly T[], measure: (one: T) => number): T | undefined =>
  some.toSorted((one, other) => measure(one) - measure(other))[0];

/** One of the measurements, as it is kept in results.json and shown in README.md. */
export interface Section {
  readonly title: string;
  /** How it was measured, as Markdown. */
  readonly how: string;
  readonly tables: readonly Table[];
  readonly targets: readonly Target[];
  /** How it stands with us and the best of the others, for the top of the report. */
  readonly standings?: readonly Standing[];
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

/** Us against the best of the others in one thing. */
export interface Standing {
  readonly entry: Goals["entry"];
  /** The thing, as a stranger would say it. */
  readonly what: string;
  /** Where it was measured, when that is in more than one place. */
  readonly where?: string;
  /** The best of the others, by its label. */
  readonly other: string;
  /** How many times better than that we are: 2 is twice as good, and 0.5 half as good. */
  readonly ahead: number;
}

/** Bars with their spread, the least first or as they come. */
export interface Plot {
  /** The name of its file, without `.svg`. */
  readonly file: string;
  readonly title: string;
  readonly unit: string;
  readonly bars: readonly Bar[];
}

/** Ours, the floors, and the peers by their transport. */
export type Kind = "ours" | "floor" | "fetch" | "node:http";

interface Bar {
  readonly label: string;
  readonly value: number;
  readonly low: number;
  readonly high: number;
  /** Distinguished by colour. */
  readonly kind: Kind;
}
