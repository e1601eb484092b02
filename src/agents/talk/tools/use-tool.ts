import { withDeadline } from "../../../request/deadline.ts";
import type { ToolCall, ToolResult } from "../../agent.ts";
import type { Tools } from "../../tool.ts";

/** What came of a wish to use a tool. */
export interface Use {
  readonly result: ToolResult;
  /** What went wrong: for the application, never for the model. */
  readonly error?: unknown;
}

/** The most that a tool may answer, in characters: a model takes no book. */
const longest = 2 ** 17;

const argumentsOf = (given: unknown): unknown =>
  typeof given === "string" ? JSON.parse(given || "{}") : (given ?? {});

const written = (value: unknown): string =>
  typeof value === "string" ? value : (JSON.stringify(value) ?? "Done.");

const told = ({ id, name }: ToolCall, output: string, isError: boolean): ToolResult => ({
  id,
  name,
  output,
  isError,
  reply: true,
});

/** A use that came to nothing: what the model is told, and what the application is. */
export const refused = (call: ToolCall, output: string, error: string): Use => ({
  result: told(call, output, true),
  error: new TypeError(error),
});

/**
 * Uses a tool, within a deadline. It never rejects: the model is told what came of it.
 *
 * @param within - milliseconds
 * @param signal - aborts when the call is gone, or the model doesn't want the answer any more
 */
export const useTool = async (
  call: ToolCall,
  tools: Tools,
  within: number,
  signal: AbortSignal,
): Promise<Use> => {
  const { name, arguments: given } = call;
  const tool = Object.hasOwn(tools, name) ? tools[name] : undefined;
  if (!tool) return refused(call, "There is no such tool.", "no tool");
  let args: unknown;
  try {
    args = argumentsOf(given);
  } catch {
    // The parser's own error quotes them.
    return refused(call, "The arguments must be JSON.", "The arguments of a tool aren't JSON");
  }
  let isLate = false;
  const late = () => {
    isLate = true;
    return new DOMException(`No tool answered within ${within} ms`, "TimeoutError");
  };
  try {
    const output = await withDeadline(within, signal, late, async (stop) =>
      written(await tool.run(args, { signal: stop })),
    );
    if (output.length <= longest) return { result: told(call, output, false) };
    return refused(call, "The answer was too long.", "The answer of a tool is too long");
  } catch (error) {
    return {
      result: told(call, isLate ? "The tool took too long." : "The tool failed.", true),
      error,
    };
  }
};
