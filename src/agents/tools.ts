import { withDeadline } from "../http/deadline.ts";
import { fail, isRecord, isText, shownName, withoutThrowing } from "../lib/check.ts";
import { durationRule, functionRule, type OptionRules, textRule } from "../lib/rules.ts";
import type { Tool, ToolCall, ToolContext, Tools } from "./agent.ts";

/** The name of the built-in tool. */
export const hangUp = "hang_up";

const hangUpTool = {
  description: "Ends the call. Say goodbye first: it is heard to its end.",
  parameters: undefined,
};

/** A tool as a model gets it. */
export interface ToolDefinition {
  readonly name: string;
  readonly description: string;
  readonly parameters: Record<string, unknown>;
}

/** The tools as a model gets them, with `hang_up` unless one of them has its name. */
export const toolDefinitions = (tools: Tools = {}): readonly ToolDefinition[] =>
  Object.entries({ ...tools, [hangUp]: tools[hangUp] ?? hangUpTool }).map(
    ([name, { description, parameters }]) => ({
      name,
      description,
      parameters: parameters ?? { type: "object", properties: {} },
    }),
  );

/** A name that every service takes for a tool. */
const toolName = /^[\w-]{1,64}$/;

const toolRules: OptionRules<Tool> = {
  description: textRule,
  run: functionRule,
  parameters: [(value) => value === undefined || isRecord(value), "must be an object"],
  timeout: [(value) => value === undefined || durationRule[0](value), durationRule[1]],
};

/**
 * Checks the tools of an agent.
 *
 * @throws {BadParametersException} (`placed: "no"`) that names the tool and the rule
 */
export const checkTools = (tools: unknown): void => {
  if (tools === undefined) return;
  if (!isRecord(tools)) fail("tools", "must be an object");
  for (const [name, tool] of Object.entries(tools)) {
    if (!toolName.test(name)) {
      fail("tools", "must have names of 1 to 64 letters, digits, _ and -");
    }
    const param = `tools.${shownName(name)}`;
    if (!isRecord(tool)) fail(param, "must be an object");
    for (const [field, [isKept, rule]] of Object.entries(toolRules)) {
      if (!isKept(tool[field])) fail(`${param}.${field}`, rule);
    }
  }
  if (withoutThrowing(() => JSON.stringify(tools)) === undefined) {
    fail("tools", "must be JSON-serializable except run");
  }
};

/** The longest result of a tool, in characters: a model takes no book. */
const maxResult = 2 ** 17;

/** The longest beginning of a call by which it is recognized, in characters. */
const maxKey = 4000;

/** By what a call is recognized where responses have no names; nothing without an id. */
export const keyOfCall = ({ id, name, arguments: args }: ToolCall): string =>
  id && JSON.stringify([id, name, args]).slice(0, maxKey);

/** What a tool gets of its session. */
export type ToolSession = Omit<ToolContext, "signal">;

/** What a tool call came to. */
export interface ToolOutcome {
  readonly output: string;
  readonly isError: boolean;
  /** What went wrong: for the application, never for the model. */
  readonly error?: unknown;
  /** Whether the tool itself threw it. */
  readonly isThrown?: boolean;
  /** Whether the tool has done nothing of what it was called for. */
  readonly isRefused?: boolean | undefined;
}

/** The signals of calls that their tool has refused. */
const refused = new WeakSet<AbortSignal>();

/** Returns the result of a tool that refuses a call: a `hang_up` of the same response waits for another one. */
export const refusal = (signal: AbortSignal, output: string): string => {
  refused.add(signal);
  return output;
};

export const failure = (output: string): ToolOutcome => ({
  output,
  isError: true,
  error: new TypeError(output),
});

/**
 * The arguments of a call. No text at all are those of a tool without parameters; else the model didn't finish them.
 *
 * @throws {SyntaxError} when they aren't JSON
 */
const argumentsOf = (given: unknown, { parameters }: Tool): unknown => {
  const args = given ?? "";
  return isText(args) ? JSON.parse(args || (parameters ? "" : "{}")) : args;
};

const toText = (value: unknown): string =>
  isText(value) ? value : (JSON.stringify(value) ?? "Done.");

/**
 * Runs a tool within a deadline. It never rejects: the outcome has what the model gets.
 *
 * @param limit - milliseconds for a tool that has no timeout of its own
 * @param signal - aborts when the call has ended, or the model doesn't want the result any more
 */
export const runTool = async (
  { name, arguments: given }: ToolCall,
  tools: Tools,
  limit: number,
  signal: AbortSignal,
  about: ToolSession,
): Promise<ToolOutcome> => {
  const tool = Object.hasOwn(tools, name) ? tools[name] : undefined;
  if (!tool) return failure("There is no such tool.");
  const { timeout = limit } = tool;
  let args: unknown;
  try {
    args = argumentsOf(given, tool);
  } catch {
    // The parser's own error quotes them.
    return failure("The arguments must be JSON.");
  }
  let isLate = false;
  let isRefused: boolean | undefined;
  const late = () => {
    isLate = true;
    return new DOMException(`No tool answered within ${timeout} ms`, "TimeoutError");
  };
  try {
    const output = await withDeadline(timeout, signal, late, async (stop) => {
      const result = await tool.run(args, { ...about, signal: stop });
      isRefused = refused.has(stop) || undefined;
      return toText(result);
    });
    if (output.length <= maxResult) return { output, isError: false, isRefused };
    return failure("The answer was too long.");
  } catch (error) {
    const output = isLate ? "The tool took too long." : "The tool failed.";
    return { output, isError: true, error, isThrown: !isLate };
  }
};
