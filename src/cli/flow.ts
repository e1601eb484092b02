import { type CallFlow, isBuilt } from "../calls/params.ts";
import { BadParametersException } from "../errors.ts";
import { inRequest } from "../flows/in-request.ts";
import { Action } from "../flows/index.ts";
import { say } from "../flows/say.ts";
import { check, fieldsOf } from "../lib/check.ts";
import { type Host, issueLine, UsageError } from "./command.ts";
import { importModule } from "./script.ts";

/** How much of stdin is read, in characters: no prompt takes more, and no text is cut. */
const maxInput = 10_000;

const hint =
  "outdial: other users of this machine can read arguments; --say - takes the text from stdin";

/** The error of a flow that breaks a rule. */
const flowFailure = (error: unknown, flag: string): unknown =>
  error instanceof BadParametersException
    ? new UsageError(
        `${flag}: ${issueLine(error.issues).replace("prompts number 1 ", "the text ")} (no call was placed)`,
        { placed: error.placed },
      )
    : error;

/** @throws {UsageError} for a text that no prompt takes */
const textFlow = async (
  { say: text = "", json }: FlowFlags,
  { terminal, signal }: Host,
): Promise<CallFlow> => {
  const isInput = text === "-";
  const input = isInput ? await terminal.input(maxInput, signal) : text;
  const spoken = isInput && input.length <= maxInput ? input.trim() : input;
  try {
    const flow = say(spoken);
    if (!(isInput || json)) await terminal.report(hint);
    return flow;
  } catch (error) {
    throw flowFailure(error, "--say");
  }
};

/** An action that this package or another copy of it made. */
const exportedFlow = (module: unknown): CallFlow => {
  const { default: action } = fieldsOf(module);
  try {
    const flow = inRequest(check(Action, () => action, "the action"));
    if (isBuilt(flow)) return flow;
    throw new UsageError("--flow-file must have an action as its default export");
  } catch (error) {
    throw flowFailure(error, "--flow-file");
  }
};

/** The options that decide what a call does. */
export interface FlowFlags {
  readonly flow?: string | undefined;
  readonly say?: string | undefined;
  readonly "flow-file"?: string | undefined;
  /** stderr has JSON alone. */
  readonly json?: boolean | undefined;
}

/**
 * What a call does: at a URL, or in the request.
 *
 * @throws {UsageError} unless exactly one option decides it
 */
export const flowOf = async (
  given: FlowFlags,
  host: Host,
): Promise<{ readonly flow_url: string } | { readonly flow: CallFlow }> => {
  const { flow, say: text, "flow-file": file } = given;
  const count = [flow, text, file].filter((one) => one !== undefined).length;
  if (count === 0) throw new UsageError("--flow is missing, as are --say and --flow-file");
  if (count > 1) throw new UsageError("give one of --flow, --say and --flow-file");
  if (text !== undefined) return { flow: await textFlow(given, host) };
  if (file !== undefined)
    return { flow: await importModule("--flow-file", file, "", exportedFlow) };
  return { flow_url: flow ?? "" };
};
