import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { Script, ScriptStep } from "../campaigns/index.ts";
import { fieldsOf, isRecord } from "../lib/check.ts";
import { UsageError } from "./command.ts";
import { type ModuleFlag, moduleFailure } from "./script-failure.ts";

/** What a script may decide; the command gives the rest. */
const names = ["onAnswer", "onMachine", "steps", "onInput", "onRecording"] as const;

const isStep = (value: unknown): value is ScriptStep => typeof value === "function";

const isSteps = (value: unknown): value is Readonly<Record<string, ScriptStep>> =>
  isRecord(value) && Object.values(value).every(isStep);

const isHook = (
  value: unknown,
): value is NonNullable<Script["onInput"]> & NonNullable<Script["onRecording"]> => isStep(value);

/** A field of a script, if it is there. */
const optional = <T>(
  script: Readonly<Record<string, unknown>>,
  name: string,
  isKept: (value: unknown) => value is T,
  rule: string,
): T | undefined => {
  const { [name]: value } = script;
  if (value === undefined || isKept(value)) return value;
  throw new UsageError(`--script: ${name} must be ${rule}`);
};

/** @throws {UsageError} which names the rule that the module breaks */
const scriptIn = (module: unknown): Script => {
  const script = fieldsOf(module).default;
  if (!isRecord(script)) {
    throw new UsageError(
      "--script must have a default export: { onAnswer, steps, onMachine, onInput, onRecording }",
    );
  }
  const unknown = Object.keys(script).find((name) => !names.some((known) => known === name));
  if (unknown !== undefined) {
    const shown = /^\w{1,30}$/.test(unknown) ? unknown : "a field";
    throw new UsageError(`--script: ${shown} is not one of ${names.join(", ")}: drop it`);
  }
  const onAnswer = optional(script, "onAnswer", isStep, "a function");
  if (!onAnswer) throw new UsageError("--script: onAnswer is missing");
  return {
    onAnswer: onAnswer.bind(script),
    onMachine: optional(script, "onMachine", isStep, "a function")?.bind(script),
    onInput: optional(script, "onInput", isHook, "a function")?.bind(script),
    onRecording: optional(script, "onRecording", isHook, "a function")?.bind(script),
    steps: optional(script, "steps", isSteps, "an object of functions"),
  };
};

/** When a file was changed last; `undefined` while it is not there, as an editor may replace it. */
export const changedAt = async (file: string): Promise<number | undefined> =>
  stat(resolve(file)).then(
    ({ mtimeMs }) => mtimeMs,
    () => undefined,
  );

/** How long a module may take to load, in milliseconds. */
const loadTimeout = 10_000;

/**
 * Imports a module of the user's, and reads it. TypeScript is taken as the runtime strips it.
 *
 * @param query - of its URL: a module is imported once for each
 * @throws {UsageError} if `read` throws, or it can't be loaded within 10 s
 */
export const importModule = async <T>(
  flag: ModuleFlag,
  file: string,
  query: string,
  read: (module: unknown) => T,
): Promise<T> => {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    const limit = `${loadTimeout / 1_000} s`;
    reject(
      new UsageError(
        `${flag} was not loaded within ${limit}: what it awaits outside of its functions never comes`,
      ),
    );
  }, loadTimeout);
  try {
    const loaded = import(`${pathToFileURL(resolve(file))}${query}`);
    return read(await Promise.race([loaded, late]));
  } catch (error) {
    throw await moduleFailure(error, file, flag);
  } finally {
    clearTimeout(timer);
  }
};

/**
 * Imports a script.
 *
 * @param changed - when it was changed last
 * @throws {UsageError} if it breaks a rule, or can't be loaded
 */
export const importScript = (file: string, changed: number): Promise<Script> =>
  importModule("--script", file, `?changed=${changed}`, scriptIn);

/** @throws {UsageError} */
export const readScript = async (file: string): Promise<Script> => {
  const changed = await changedAt(file);
  if (changed === undefined) throw new UsageError(`--script cannot be read: ${file}`);
  return importScript(file, changed);
};
