import { parseArgs } from "node:util";
import type { Terminal } from "./terminal.ts";

/** Exit codes, the same for every command. */
export const exits = {
  done: 0,
  refused: 1,
  usage: 2,
  maybe: 3,
  ended: 4,
  unknown: 5,
  interrupted: 130,
} as const;

export type Exit = (typeof exits)[keyof typeof exits];

/** Ends a command with one line on stderr (JSON with `--json`) and an exit code. */
export class Failure extends Error {
  override readonly name: string = "Failure";
  readonly exit: Exit;
  /** Printed beside the message with `--json`. */
  readonly facts: Readonly<Record<string, unknown>>;

  /** @param message - one line, without the key and without telephone numbers */
  constructor(message: string, exit: Exit, facts: Failure["facts"] = {}) {
    super(message);
    this.exit = exit;
    this.facts = facts;
  }
}

/** The command line is wrong: exit 2, and the line names the help. */
export class UsageError extends Failure {
  override readonly name = "UsageError";

  constructor(message: string, facts?: Failure["facts"]) {
    super(message, exits.usage, facts);
  }
}

/** An option of a command. */
interface Flag {
  readonly type: "string" | "boolean";
  /** One letter that stands for it: `o` for `-o`. */
  readonly short?: string;
  /** May be repeated. */
  readonly multiple?: boolean;
  readonly required?: boolean;
  /** An option beside which it is not required. */
  readonly unless?: string;
  /** Placeholder of its value in the help, such as `url`. */
  readonly value?: string;
  readonly help: string;
  /** Its only values. */
  readonly choices?: readonly string[];
  /** The parameter or option of the package that it sets: its errors name the flag instead. */
  readonly sets?: string;
}

export type Flags = Readonly<Record<string, Flag>>;

/** The values of a command's options, typed by their declaration. */
export type Values<F extends Flags> = ReturnType<
  typeof parseArgs<{ args: string[]; options: F; allowPositionals: true }>
>["values"];

/**
 * How far a command has come with calls. It decides the exit code of an interrupt or an unexpected error:
 * 1 before the first POST, 3 from then on, 0 once the id of every call is known, 5 where its end is waited for. `listed` is `nothing`, and
 * `recorded` is `sent`, where a ledger knows which calls may have been placed: an interrupt is 130, and the same command resumes.
 */
export type Stage = "nothing" | "listed" | "live" | "sent" | "recorded" | "placed" | "waiting";

export type Environment = Readonly<Record<string, string | undefined>>;

/** What every command gets from the process that runs it. */
export interface Host {
  readonly env: Environment;
  readonly terminal: Terminal;
  /** Aborts at the first ctrl-C, SIGTERM or SIGHUP; the second one ends the process at once. */
  readonly signal: AbortSignal;
  /** Called before each new stage begins. */
  readonly reached: (stage: Stage) => void;
}

/** A command in the list of commands. */
export interface Entry {
  /** One line in the list. */
  readonly summary: string;
  /** Loaded on use: `call` starts without the emulator. */
  readonly load: () => Promise<{ readonly command: Command }>;
}

/** What a command gets from the list that it is in. */
interface Listed extends Host {
  /** Every command, in the order of the help. */
  readonly commands: Readonly<Record<string, Entry>>;
}

export interface Invocation<F extends Flags> extends Listed {
  readonly flags: Values<F>;
  readonly args: readonly string[];
}

/** Everything about a command: its help, suggestions and error messages are derived from it. */
interface Declaration<F extends Flags> {
  /** Its positional arguments: `["list.csv"]`. A last one that ends in `…` takes one or more, in `?` one or none. */
  readonly args?: readonly string[];
  /** The only values of its first argument. */
  readonly choices?: readonly string[];
  readonly flags: F;
  /** One use of it, as it is typed after `outdial`; it may have several lines. */
  readonly example: string;
  /** Paragraphs below the options in the help. */
  readonly notes?: readonly string[];
  /** The meaning of each exit code. */
  readonly exits: Readonly<Partial<Record<Exit, string>>>;
  /** @throws {Failure} for every exit code that needs an explanation */
  readonly run: (invocation: Invocation<F>) => Promise<Exit>;
}

/** A command whose arguments are not parsed yet. */
export interface Command extends Omit<Declaration<Flags>, "run"> {
  readonly run: (args: readonly string[], host: Listed) => Promise<Exit>;
}

/** Declares a command; its options are typed by their own table. */
export const defineCommand = <const F extends Flags>(declaration: Declaration<F>): Command => ({
  ...declaration,
  run: (args, host) => declaration.run({ ...parseArguments(args, declaration), ...host }),
});

/** Edit distance with adjacent swaps (Damerau–Levenshtein, optimal string alignment). */
const distance = (one: string, other: string): number => {
  let before: number[] = [];
  let last = Array.from({ length: other.length + 1 }, (_, at) => at);
  for (let row = 1; row <= one.length; row++) {
    const now = [row];
    for (let at = 1; at <= other.length; at++) {
      const same = one[row - 1] === other[at - 1];
      const swapped = one[row - 1] === other[at - 2] && one[row - 2] === other[at - 1];
      now[at] = Math.min(
        (last[at] ?? 0) + 1,
        (now[at - 1] ?? 0) + 1,
        (last[at - 1] ?? 0) + (same ? 0 : 1),
        swapped ? (before[at - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY,
      );
    }
    before = last;
    last = now;
  }
  return last[other.length] ?? 0;
};

/** The nearest known name, if at most a third of its letters differ. */
export const nearest = (given: string, names: readonly string[]): string | undefined => {
  if (given.length > 40) return;
  const [best] = names
    .map((name) => ({ name, off: distance(given.toLowerCase(), name) }))
    .filter(({ name, off }) => off <= Math.max(1, Math.floor(name.length / 3)))
    .sort((one, other) => one.off - other.off);
  return best?.name;
};

/** ` (did you mean …?)`, or nothing. */
export const suggestion = (given: string, names: readonly string[], dashes = ""): string => {
  const name = nearest(given, names);
  return name ? ` (did you mean ${dashes}${name}?)` : "";
};

const namesKey = /^-*(api[-_]?key|key|k|x-api-key|token|secret)$/i;

/** An option's name for an error message, unless it is so odd that it may be a secret. */
const printable = (rawName: string): string =>
  /^--?[a-z][a-z-]{0,20}$/.test(rawName) ? rawName : "an option";

/** An option as it was written. */
interface OptionToken {
  readonly name: string;
  readonly rawName: string;
  readonly value?: string | undefined;
  /** Whether its value was written behind a "=". */
  readonly inlineValue?: boolean | undefined;
}

const checkFlag = (
  flags: Flags,
  seen: Set<string>,
  { name, rawName, value, inlineValue }: OptionToken,
): void => {
  if (namesKey.test(name)) {
    throw new UsageError(
      "the key cannot be an argument, because every process of the machine can read arguments " +
        "and shells keep them: set OUTDIAL_API_KEY",
    );
  }
  const flag = Object.hasOwn(flags, name) ? flags[name] : undefined;
  if (!flag) {
    const meant = suggestion(name, Object.keys(flags), "--");
    throw new UsageError(`${printable(rawName)} is unknown${meant}`);
  }
  if (
    flag.type === "string" &&
    (!value || (value.startsWith("-") && value !== "-" && !inlineValue))
  ) {
    const hint = /^-\d/.test(value ?? "")
      ? `; one that begins with "-" is written --${name}=…`
      : "";
    throw new UsageError(`--${name} needs a value${hint}`);
  }
  if (flag.type === "boolean" && value !== undefined) {
    throw new UsageError(`--${name} takes no value`);
  }
  if (flag.choices && !flag.choices.includes(value ?? "")) {
    const meant = suggestion(value ?? "", flag.choices);
    throw new UsageError(`--${name} must be one of ${flag.choices.join(", ")}${meant}`);
  }
  if (seen.has(name) && !flag.multiple) throw new UsageError(`--${name} is given twice`);
  seen.add(name);
};

const checkCount = (count: number, names: readonly string[]): void => {
  const missing = names[count];
  if (missing && !missing.endsWith("?")) throw new UsageError(`<${missing}> is missing`);
  if (count <= names.length || names.at(-1)?.endsWith("…")) return;
  throw new UsageError(names[0] ? "too many arguments" : "every argument must be an option");
};

const checkRequired = (flags: Flags, seen: ReadonlySet<string>): void => {
  const missing = Object.entries(flags)
    .filter(
      ([name, { required, unless = name }]) => required && !seen.has(name) && !seen.has(unless),
    )
    .map(([name]) => `--${name}`);
  if (missing.length === 0) return;
  throw new UsageError(`${missing.join(", ")} ${missing.length > 1 ? "are" : "is"} missing`);
};

/**
 * Parses the arguments of a command. The messages of `parseArgs` itself are never printed: they repeat
 * values, and a value may be a secret.
 *
 * @throws {UsageError} which repeats no value
 */
const parseArguments = <F extends Flags>(
  argv: readonly string[],
  { flags, args: names = [] }: Pick<Declaration<F>, "flags" | "args">,
): Pick<Invocation<F>, "flags" | "args"> => {
  const known: Flags = flags;
  const lenient = { args: [...argv], options: known, strict: false, tokens: true } as const;
  const { tokens, positionals } = parseArgs(lenient);
  const seen = new Set<string>();
  for (const token of tokens) if (token.kind === "option") checkFlag(flags, seen, token);
  checkCount(positionals.length, names);
  checkRequired(flags, seen);
  const { values } = parseArgs({ args: [...argv], options: flags, allowPositionals: true });
  return { flags: values, args: positionals };
};

interface Issue {
  readonly param: string;
  readonly message: string;
}

/**
 * The rules that a `BadParametersException` names, by the flags that a user knows.
 *
 * @param others - the names of parameters that no flag sets, such as `{ apiKey: "OUTDIAL_API_KEY" }`
 */
export const issuesByFlag = (
  issues: readonly Issue[],
  flags: Flags,
  others: Readonly<Record<string, string>>,
): readonly Issue[] => {
  const names = new Map(Object.entries(others));
  for (const [name, { sets }] of Object.entries(flags)) if (sets) names.set(sets, `--${name}`);
  return issues.map(({ param, message }) => {
    const [first = ""] = param.split(".");
    const name = names.get(param) ?? names.get(first) ?? param;
    const text = message
      .replace(/^baseUrl\b/, "the base URL")
      // Others that a rule names are written as in code.
      .replace(/\b[a-z]+[A-Z_]\w*/g, (word) => names.get(word) ?? word);
    return { param: name, message: text };
  });
};

/** One line for several broken rules. */
export const issueLine = (issues: readonly Issue[]): string =>
  issues.map(({ param, message }) => `${param} ${message}`).join("; ");

type Row = readonly [left: string, right: string];

const section = (title: string, rows: readonly Row[]): readonly string[] => {
  if (rows.length === 0) return [];
  const width = Math.max(...rows.map(([left]) => left.length));
  const lines = rows.map(([left, right]) => `    ${left.padEnd(width)}   ${right}`);
  return [[title, ...lines].join("\n")];
};

const flagText = ([name, { value, multiple }]: readonly [string, Flag]): string =>
  `--${name}${value ? ` <${value}>` : ""}${multiple ? "…" : ""}`;

const argumentText = (name: string): string => {
  if (name.endsWith("?")) return `[${name.slice(0, -1)}]`;
  return name.endsWith("…") ? `<${name.slice(0, -1)}>…` : `<${name}>`;
};

/** The output of `outdial help <command>`. */
export const helpOf = (name: string, summary: string, command: Command): string => {
  const { args = [], flags, notes = [], exits: codes } = command;
  const all = Object.entries(flags);
  const required = all.filter(([, flag]) => flag.required);
  const rest = all.length > required.length ? ["[options]"] : [];
  return [
    ["outdial", name, ...args.map(argumentText), ...required.map(flagText), ...rest].join(" "),
    summary,
    ...section(
      "Options",
      all.map((each): Row => [flagText(each), each[1].help]),
    ),
    `Example\n    outdial ${command.example}`,
    ...notes,
    ...section("Exit codes", Object.entries(codes)),
  ].join("\n\n");
};

/** The output of `outdial --help`. */
export const overview = (summaries: readonly Row[]): string =>
  [
    "outdial places outbound voice calls, and emulates the service on your own machine.",
    ...section("Commands", summaries),
    "`outdial help <command>` explains one; `outdial --version` prints the version.",
  ].join("\n\n");
