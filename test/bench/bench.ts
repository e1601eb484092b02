import type { Runtime } from "./runtimes.ts";
import type { Kind } from "./section.ts";
import type { Subject } from "./subjects.ts";

/** What every measurement is given. */
export interface Bench {
  /** One short round of everything: does it work? */
  readonly smoke: boolean;
  /** Those who are installed. */
  readonly subjects: readonly Subject[];
  readonly runtimes: readonly Runtime[];
  /** The loopback server. */
  readonly server: string;
  /** The built file of a client, an operation or a piece of work, by its name. */
  readonly files: Readonly<Record<string, string>>;
}

export const kindOf = ({ name, peer, transport }: Subject): Kind =>
  peer ? transport : name.startsWith("outdial") ? "ours" : "floor";

/** The one with the least of something, or nobody. */
export const leastOf = <T>(some: readonly T[], measure: (one: T) => number): T | undefined =>
  some.toSorted((one, other) => measure(one) - measure(other))[0];
