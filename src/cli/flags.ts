import { type ParseArgsConfig, parseArgs } from "node:util";
import { UsageError } from "./command.ts";

type Flags = NonNullable<ParseArgsConfig["options"]>;

/** The values of a command's flags, each typed by its own. */
export type Values<T extends Flags> = ReturnType<
  typeof parseArgs<{ args: string[]; options: T }>
>["values"];

const namesKey = /^-*(api[-_]?key|key|k|x-api-key|token|secret)$/i;

const nameOf = (rawName: string): string =>
  /^--?[a-z][a-z-]{0,20}$/.test(rawName) ? rawName : "an option";

/**
 * Reads the flags of a command.
 *
 * @throws {UsageError} which never repeats a value, because that might be a secret (and so node's
 * own words are never used: they do)
 */
export const readFlags = <const T extends Flags>(
  args: readonly string[],
  options: T,
): Values<T> => {
  const known: Flags = options;
  const lenient = { args: [...args], options: known, strict: false, tokens: true } as const;
  const seen = new Set<string>();
  for (const token of parseArgs(lenient).tokens) {
    if (token.kind === "option-terminator") continue;
    if (token.kind === "positional") throw new UsageError("every argument must be an option");
    const { name, rawName, value } = token;
    if (namesKey.test(name)) {
      throw new UsageError(
        "the key is no argument, because every process of the machine can read arguments " +
          "and shells keep them: set OUTDIAL_API_KEY",
      );
    }
    const flag = Object.hasOwn(known, name) ? known[name] : undefined;
    if (!flag) throw new UsageError(`${nameOf(rawName)} is unknown`);
    if (flag.type === "string" && (!value || value.startsWith("-"))) {
      throw new UsageError(`--${name} needs a value`);
    }
    if (flag.type === "boolean" && value !== undefined) {
      throw new UsageError(`--${name} takes no value`);
    }
    if (seen.has(name) && !flag.multiple) throw new UsageError(`--${name} is given twice`);
    seen.add(name);
  }
  return parseArgs({ args: [...args], options }).values;
};
