/** What a command does with its arguments; it gives the exit code. */
export type Command = (args: readonly string[]) => Promise<number>;

/** The command line can't be understood: exit 2, with this line and where the help is. */
export class UsageError extends Error {
  override readonly name = "UsageError" as const;
}
