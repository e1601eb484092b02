import { safeParse } from "valibot";
import { Action } from "../../flows/action.ts";
import type { FlowRequest } from "../../flows/request.ts";
import { parseJson } from "../api/body.ts";
import type { Call } from "../line/call.ts";
import { FlowError } from "./flow-error.ts";
import { knownIn } from "./known.ts";
import type { FlowParts } from "./parts.ts";

/** The largest answer, in bytes. */
const largest = 64 * 1024;

/** The first URL in an action that is not for the open network, by its field. */
const plainUrlIn = (action: object, place: string): string | undefined => {
  for (const [name, value] of Object.entries(action)) {
    if (name.endsWith("_url") && /^(http|ws):/i.test(String(value))) return place + name;
    const inner = value instanceof Object && plainUrlIn(value, `${place}${name}.`);
    if (inner) return inner;
  }
  return;
};

const requestOf = ({ id, params }: Call, account_id: string): FlowRequest => ({
  call_id: id,
  account_id,
  from_number: params.from_number,
  to_number: params.to_number,
  direction: "outbound",
});

/** What the answer says is to be done and what else it says, or why it says nothing. */
const readAction = (
  bytes: Uint8Array,
  call: Call,
  step: number,
): { readonly action: Action; readonly unknown: readonly string[] } => {
  const value = parseJson(bytes);
  if (value === undefined) throw new FlowError(step, "flow_url", "answered no JSON in UTF-8");
  const { action, unknown } = knownIn(value);
  const { success, output, issues } = safeParse(Action, action);
  if (!success) {
    const { path, message } = issues[0];
    const field = path?.map(({ key }) => String(key)).join(".") ?? "the action";
    throw new FlowError(step, field.slice(0, 80), message);
  }
  const plain = call.local ? undefined : plainUrlIn(output, "");
  if (plain) throw new FlowError(step, plain, "must be https or wss, as the service is remote");
  return { action: output, unknown };
};

/**
 * Asks the flow what to do next.
 *
 * @throws {FlowError} when no usable answer comes
 */
export const askFlow = async (
  call: Call,
  url: string,
  step: number,
  { accountId, ask }: FlowParts,
): Promise<Action> => {
  const init = {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(requestOf(call, accountId)),
  };
  const { signal } = call.over;
  const { ms, response, body, error } = await ask(url, init, {
    largest,
    redirects: "origin",
    local: call.local,
    signal,
  });
  const status = response && { status: response.status };
  try {
    if (error) throw new FlowError(step, "flow_url", `gave no answer: ${error}`);
    if (!response?.ok) throw new FlowError(step, "flow_url", `answered HTTP ${response?.status}`);
    if (!body?.whole) throw new FlowError(step, "flow_url", "answered more than 64 KiB");
    const { action, unknown } = readAction(body.bytes, call, step);
    const more = unknown.length > 0 && { unknown_fields: unknown };
    call.note({ type: "flow", step, url, ms, ...status, action, ...more });
    return action;
  } catch (failure) {
    call.note({ type: "flow", step, url, ms, ...status });
    throw failure;
  }
};
