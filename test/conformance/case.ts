import type { Storage } from "outdial/campaigns";
import type { Entry } from "./entries.ts";
import type { ServiceName } from "./services/index.ts";

/** The runtimes that run the list, by the names that the report uses. */
export const runtimes = [
  "node22",
  "node24",
  "node26",
  "deno",
  "bun",
  "workerd",
  "edge",
  "happy-dom",
  "chromium",
] as const;

export type Runtime = (typeof runtimes)[number];

/** What a case gets from the launcher that runs it. */
export interface Env {
  readonly runtime: Runtime;
  /** Whether something has used `fetch` before the package was loaded: the dispatcher may then be anyone's. */
  readonly isLoadedLate?: boolean;
  /**
   * The base URL of the peer, a server on loopback that misbehaves on request: see
   * `test/stub-server/server.ts`.
   */
  readonly peer: string;
  /** The carrier that the list is run with; without one, outdial's own interface. */
  readonly service?: ServiceName | undefined;
  /** Whether the programs of agents are run on each line, in the place of one that changes from case to case. */
  readonly everyLine?: boolean;
  /** How this runtime prints a value: `util.inspect`, `Deno.inspect`, or its console's nearest. */
  readonly inspect: (value: unknown) => string;
  /** A new database of this runtime's own, where it has SQLite. */
  readonly storage?: (() => Storage | Promise<Storage>) | undefined;
}

/** What a case about placing calls gets besides: the entry under test. */
export interface ClientEnv extends Env, Entry {}

/** One rule and the code that shows it; it fails by throwing. */
export interface Case<E = Env> {
  /** The rule, in one sentence, unique in the list. */
  readonly name: string;
  /** Why it is not run, in any runtime. */
  readonly exempt?: string;
  readonly run: (env: E) => Promise<void> | void;
}

/** A rule of every entry that places calls. */
export type ClientCase = Case<ClientEnv>;

/** Whether a connection that was refused may be one that was lost. */
export const isVague = ({ runtime, isLoadedLate = false }: Env): boolean =>
  isLoadedLate || ["workerd", "happy-dom", "chromium"].includes(runtime);
