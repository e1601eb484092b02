import type { Runtime } from "./runtimes.ts";
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

export const kindOf = ({ name, peer }: Subject): "ours" | "floor" | "peer" =>
  peer ? "peer" : name.startsWith("outdial") ? "ours" : "floor";
