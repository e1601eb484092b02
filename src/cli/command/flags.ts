import { parseArgs } from "node:util";
import { UsageError } from "./failure.ts";
import { nearest } from "./nearest.ts";

/** An option of a command. */
export interface Flag {
  readonly type: "string" | "boolean";
  /** May be given more than once. */
  readonly multiple?: boolean;
  readonly required?: boolean;
  /** What stands for its value in the help, such as `url`. */
  readonly value?: string;
  /** What it is, in the help. */
  readonly help: string;
}

export type Flags = Readonly<Record<string, Flag>>;

/** The values of a command's options, each typed by its own. */
export type Values<F extends Flags> = ReturnType<
  typeof parseArgs<{ args: string[]; options: F; allowPositionals: true }>
>["values"];

/** What must be known of a command to read its arguments. */
interface Expected<F extends Flags> {
  readonly flags: F;
  readonly words?: readonly string[];
}

const namesKey = /^-*(api[-_]?key|key|k|x-api-key|token|secret)$/i;

/** An option's name in an error, unless it is so odd that it may be a secret. */
const nameOf = (rawName: string): string =>
  /^--?[a-z][a-z-]{0,20}$/.test(rawName) ? rawName : "an option";

const checkOption = (
  flags: Flags,
  seen: Set<string>,
  { name, rawName, value }: { name: string; rawName: string; value?: string | undefined },
): void => {
  if (namesKey.test(name)) {
    throw new UsageError(
      "the key is no argument, because every process of the machine can read arguments " +
        "and shells keep them: set OUTDIAL_API_KEY",
    );
  }
  const flag = Object.hasOwn(flags, name) ? flags[name] : undefined;
  if (!flag) {
    const meant = nearest(name, Object.keys(flags));
    throw new UsageError(
      `${nameOf(rawName)} is unknown${meant ? ` (did you mean --${meant}?)` : ""}`,
    );
  }
  if (flag.type === "string" && (!value || value.startsWith("-"))) {
    throw new UsageError(`--${name} needs a value`);
  }
  if (flag.type === "boolean" && value !== undefined) {
    throw new UsageError(`--${name} takes no value`);
  }
  if (seen.has(name) && !flag.multiple) throw new UsageError(`--${name} is given twice`);
  seen.add(name);
};

const checkWords = (count: number, words: readonly string[]): void => {
  const missing = words[count];
  if (missing) throw new UsageError(`<${missing}> is missing`);
  if (count > words.length && !words.at(-1)?.endsWith("…")) {
    throw new UsageError(
      words[0] ? "there is an argument too many" : "every argument must be an option",
    );
  }
};

const checkPresence = (flags: Flags, seen: ReadonlySet<string>): void => {
  const names = Object.entries(flags)
    .filter(([name, { required }]) => required && !seen.has(name))
    .map(([name]) => `--${name}`);
  if (names[0]) throw new UsageError(`${names.join(", ")} ${names[1] ? "are" : "is"} missing`);
};

/**
 * Reads the arguments of a command.
 *
 * @throws {UsageError} which never repeats a value, because that might be a secret (and so node's
 * own words are never used: they do)
 */
export const readArguments = <F extends Flags>(
  args: readonly string[],
  { flags, words = [] }: Expected<F>,
): { readonly flags: Values<F>; readonly words: readonly string[] } => {
  const known: Flags = flags;
  const lenient = { args: [...args], options: known, strict: false, tokens: true } as const;
  const { tokens, positionals } = parseArgs(lenient);
  const seen = new Set<string>();
  for (const token of tokens) if (token.kind === "option") checkOption(flags, seen, token);
  checkWords(positionals.length, words);
  checkPresence(flags, seen);
  const { values } = parseArgs({ args: [...args], options: flags, allowPositionals: true });
  return { flags: values, words: positionals };
};
