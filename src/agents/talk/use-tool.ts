import { withDeadline } from "../../request/deadline.ts";
import type { ToolCall, ToolResult } from "../agent.ts";
import type { Tools } from "../tool.ts";

/** What came of a wish to use a tool. */
export interface Use {
  readonly result: ToolResult;
  /** What went wrong: for the application, never for the model. */
  readonly error?: unknown;
}

const argumentsOf = (given: unknown): unknown =>
  typeof given === "string" ? JSON.parse(given || "{}") : (given ?? {});

const written = (value: unknown): string =>
  typeof value === "string" ? value : (JSON.stringify(value) ?? "Done.");

/**
 * Uses a tool, within a deadline. It never rejects: the model is told what came of it.
 *
 * @param within - milliseconds
 * @param signal - aborts when the call is gone, or the model doesn't want the answer any more
 */
export const useTool = async (
  { id, name, arguments: given }: ToolCall,
  tools: Tools,
  within: number,
  signal: AbortSignal,
): Promise<Use> => {
  const tell = (output: string, isError: boolean): ToolResult => ({
    id,
    name,
    output,
    isError,
    reply: true,
  });
  const tool = Object.hasOwn(tools, name) ? tools[name] : undefined;
  if (!tool)
    return { result: tell("There is no such tool.", true), error: new TypeError("no tool") };
  let args: unknown;
  try {
    args = argumentsOf(given);
  } catch {
    const error = new TypeError("The arguments of a tool aren't JSON"); // The parser's own quotes them.
    return { result: tell("The arguments must be JSON.", true), error };
  }
  const late = () => new DOMException(`No tool answered within ${within} ms`, "TimeoutError");
  try {
    const output = await withDeadline(within, signal, late, async (stop) =>
      tool.run(args, { signal: stop }),
    );
    return { result: tell(written(output), false) };
  } catch (error) {
    const isLate = Object(error).name === "TimeoutError";
    const output = isLate ? "The tool took too long." : "The tool failed.";
    return { result: tell(output, true), error };
  }
};
