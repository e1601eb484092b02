/** What a command's exit code says, whichever command it is. */
export const exits = { done: 0, refused: 1, usage: 2, maybe: 3, interrupted: 130 } as const;

export type Exit = (typeof exits)[keyof typeof exits];

/** What may be told of a failure beside its message; with `--json` it is, by these names. */
export type Facts = Readonly<Record<string, unknown>>;

/** Ends a command: with one line on stderr (or the same as JSON, where it is asked for) and an exit code. */
export class Failure extends Error {
  override readonly name: string = "Failure";
  readonly exit: Exit;
  readonly facts: Facts;

  /** @param message - one line, without the key and without telephone numbers */
  constructor(message: string, exit: Exit, facts: Facts = {}) {
    super(message);
    this.exit = exit;
    this.facts = facts;
  }
}

/** The command line can't be understood: exit 2, and the line says where the help is. */
export class UsageError extends Failure {
  override readonly name = "UsageError";

  constructor(message: string, facts?: Facts) {
    super(message, exits.usage, facts);
  }
}
