import type { Exit } from "./failure.ts";
import { type Flags, readArguments, type Values } from "./flags.ts";

/**
 * How far a command has come with calls, should it end at this moment: `"sent"` from the first POST
 * that may ring a telephone, `"placed"` once the id of every call is known. It decides what an
 * interrupt or a failure that nobody foresaw exits with: 1, 3 or 0.
 */
export type Stage = "nothing" | "sent" | "placed";

/** What a command is run with. */
export interface Given<F extends Flags> {
  readonly flags: Values<F>;
  /** The arguments that are no options, as many as `words` names. */
  readonly words: readonly string[];
  /** To be called at each new stage, before what leads to it. */
  readonly reached: (stage: Stage) => void;
  /**
   * Aborts at the first ctrl-C, SIGTERM or SIGHUP (the terminal is gone), with a `Failure` that says what was known then. The second
   * one ends the process at once.
   */
  readonly signal: AbortSignal;
}

/** Does what the command is for; it gives the exit code, or throws a `Failure`. */
export type Run<F extends Flags> = (given: Given<F>) => Promise<Exit>;

/** What is written of a command: its help, its suggestions and its errors all come from here. */
export interface Description<F extends Flags> {
  readonly name: string;
  /** One line in the list of commands. */
  readonly summary: string;
  /**
   * What its arguments are that are no options, in order: `["list.csv"]`. A last one that ends in `…`
   * stands for one or more.
   */
  readonly words?: readonly string[];
  readonly flags: F;
  /** What its help says below the options, a paragraph each. */
  readonly notes?: readonly string[];
  /** What each exit code means here. */
  readonly exits: Readonly<Partial<Record<Exit, string>>>;
  /** Loads what the command does only when it is asked for: `call` starts without the emulator. */
  readonly load: () => Promise<Run<F>>;
}

type Rest = Pick<Given<Flags>, "reached" | "signal">;

/** A command as the table of commands has it. */
export interface Command extends Omit<Description<Flags>, "load"> {
  /** @throws {Failure} what ends it otherwise than well */
  readonly run: (args: readonly string[], rest: Rest) => Promise<Exit>;
}

/** A command, its options typed by their own table. */
export const command = <const F extends Flags>({ load, ...told }: Description<F>): Command => ({
  ...told,
  run: async (args, rest) => {
    const read = readArguments(args, told);
    const run = await load();
    return run({ ...read, ...rest });
  },
});
