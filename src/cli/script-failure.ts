import { execFile } from "node:child_process";
import { relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { BadParametersException } from "../errors.ts";
import { fieldsOf, isText } from "../lib/check.ts";
import { issueLine, UsageError } from "./command.ts";

/** Where something stands in a file, counted from 1. */
interface Place {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/** The path of a file as an error names it: a path or a URL, which may have a query. */
const pathOf = (text: string): string => {
  const [plain = ""] = text.split("?");
  return /^file:/.test(plain) ? fileURLToPath(plain) : plain;
};

/** The place in a line of a stack, such as `    at file:///app/survey.ts?changed=1:3:13`. */
const framePlace = (line: string): Place | undefined => {
  const [, file = "", row, column] =
    /^\s+at .*?((?:file:\/\/|[/\\]|[A-Za-z]:[/\\])[^()]*):(\d+):(\d+)\)?$/.exec(line) ?? [];
  return file ? { file: pathOf(file), line: Number(row), column: Number(column) } : undefined;
};

/** The place at the top of a text of Node: the file and its line, the source, and carets below it. */
const caretPlace = (text: string): Place | undefined => {
  const [, file = "", line, carets = ""] =
    /^(\S[^\n]*):(\d+)\n(?:[^\n]*\n)*?( *)\^+[ \r]*\n/.exec(text) ?? [];
  return file ? { file: pathOf(file), line: Number(line), column: carets.length + 1 } : undefined;
};

/** The place in an error of Bun's bundler. */
const buildPlace = (error: unknown): Place | undefined => {
  const { file, line, column } = fieldsOf(fieldsOf(error).position);
  return isText(file) && typeof line === "number" && typeof column === "number"
    ? { file: pathOf(file), line, column }
    : undefined;
};

/** The place of a syntax error that has none itself: Node tells it to nobody but the terminal. */
const checkedPlace = async (script: string): Promise<Place | undefined> => {
  if ("Deno" in globalThis || "Bun" in globalThis) return;
  // It parses the file, and runs nothing of it.
  const checked = promisify(execFile)(process.execPath, ["--check", script]);
  const { stderr } = fieldsOf(await checked.catch((failed: unknown) => failed));
  return isText(stderr) ? caretPlace(stderr) : undefined;
};

const placeOf = async (error: unknown, script: string): Promise<Place | undefined> => {
  const stack = String(fieldsOf(error).stack ?? "");
  const frames = stack.split("\n").flatMap((line) => framePlace(line) ?? []);
  const own = frames.find(({ file }) => file === script);
  const imported = frames.find(({ file }) => !/[/\\](?:node_modules|dist)[/\\]/.test(file));
  const known = buildPlace(error) ?? caretPlace(stack) ?? own;
  if (known) return known;
  return fieldsOf(error).name === "SyntaxError" ? checkedPlace(script) : imported;
};

/** The options whose value is a module of the user's. */
export type ModuleFlag = "--script" | "--flow-file";

/**
 * The error of a command for a module that it can't load, with file, line and column as far as the runtime knows them.
 *
 * @param file - the module
 */
export const moduleFailure = async (
  error: unknown,
  file: string,
  flag: ModuleFlag,
): Promise<UsageError> => {
  if (error instanceof UsageError) return error;
  const script = resolve(file);
  const errors: unknown = fieldsOf(error).errors;
  const [first = error]: readonly unknown[] = Array.isArray(errors) ? errors : [];
  const place = await placeOf(first, script);
  // The lines below the first repeat the source.
  const [said = ""] = String(fieldsOf(first).message ?? first).split("\n");
  const reason = first instanceof BadParametersException ? issueLine(first.issues) : said;
  if (!place) return new UsageError(`${flag} cannot be loaded: ${reason}`);
  const near = relative(".", place.file);
  const shown = near.startsWith("..") ? place.file : near;
  return new UsageError(
    `${flag} cannot be loaded: ${shown}:${place.line}:${place.column}: ${reason}`,
  );
};
