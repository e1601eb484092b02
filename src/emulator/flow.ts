import { safeParse } from "valibot";
import { Action, actions, fieldsOf } from "../flows/actions.ts";
import type { FlowRequest } from "../flows/handler.ts";
import { withDeadline } from "../http/deadline.ts";
import { parseJson } from "../lib/body.ts";
import { isRecord } from "../lib/check.ts";
import { dial, FlowError, type FlowParts, hangup, play, type Step } from "./actions.ts";
import { type Call, dialLeg } from "./call.ts";
import { type Callee, type CalleeCall, ScriptedCallee } from "./callee.ts";
import type { OnCall } from "./options.ts";
import { messageOf } from "./outgoing.ts";
import { audioOf } from "./recording/recording.ts";
import { type Outcome, parseOutcome, scenarioOf } from "./scenarios.ts";
import { stream } from "./stream.ts";

/** What a call needs of the emulator. */
export interface CallParts extends FlowParts {
  /** Milliseconds from the answer. */
  readonly maxDuration: number;
  readonly callee?: Callee | undefined;
  readonly onCall?: OnCall | undefined;
}

/** The largest response of a flow, in bytes. */
const maxResponse = 64 * 1024;

/** How many unknown fields are listed, and how much of each name. */
const maxUnknownFields = 20;
const maxFieldLength = 80;

/** Other names of fields, by action: the deployed service's npm builder writes `file_url`. */
const aliases: Readonly<Partial<Record<Action["action"], Readonly<Record<string, string>>>>> = {
  play: { file_url: "media_url" },
};

/** A flow's response, without the fields that no action has. */
interface KnownFields {
  readonly action: unknown;
  /** The fields that were left out, such as `ringback` or `on_busy.volume`; the first 20. */
  readonly unknown: readonly string[];
}

const isActionName = (name: unknown): name is Action["action"] =>
  typeof name === "string" && Object.hasOwn(actions, name);

/**
 * Leaves out the fields that an action, or one nested in it, does not know: services have more of them,
 * and their own builders always write some.
 */
const knownFields = (value: unknown, place = ""): KnownFields => {
  if (!isRecord(value) || !isActionName(value.action)) return { action: value, unknown: [] };
  const fields = fieldsOf(value.action);
  const action: Record<string, unknown> = {};
  const unknown: string[] = [];
  for (const [given, field] of Object.entries(value)) {
    const alias: string | undefined = aliases[value.action]?.[given];
    const name = alias && !Object.hasOwn(value, alias) ? alias : given;
    if (!fields.includes(name)) unknown.push(`${place}${name}`.slice(0, maxFieldLength));
    else {
      const inner = knownFields(field, `${place}${name}.`);
      action[name] = inner.action;
      unknown.push(...inner.unknown);
    }
  }
  return { action, unknown: unknown.slice(0, maxUnknownFields) };
};

/** The name of the first field with a plain http or ws URL. */
const plainUrlField = (action: object, place: string): string | undefined => {
  for (const [name, value] of Object.entries(action)) {
    if (name.endsWith("_url") && /^(http|ws):/i.test(String(value))) return place + name;
    const inner = value instanceof Object && plainUrlField(value, `${place}${name}.`);
    if (inner) return inner;
  }
  return;
};

/** @throws {FlowError} when the response is not an action */
const parseAction = (
  bytes: Uint8Array,
  call: Call,
  step: number,
): { readonly action: Action; readonly unknown: readonly string[] } => {
  const value = parseJson(bytes);
  if (value === undefined) throw new FlowError(step, "flow_url", "answered no JSON in UTF-8");
  const { action, unknown } = knownFields(value);
  const { success, output, issues } = safeParse(Action, action);
  if (!success) {
    const { path, message } = issues[0];
    const field = path?.map(({ key }) => String(key)).join(".") ?? "the action";
    throw new FlowError(step, field.slice(0, maxFieldLength), message);
  }
  const plain = call.local ? undefined : plainUrlField(output, "");
  if (plain) throw new FlowError(step, plain, "must be https or wss, as the service is remote");
  return { action: output, unknown };
};

/**
 * Requests the next action of a flow.
 *
 * @throws {FlowError} when the response is not an action
 */
const requestAction = async (
  call: Call,
  url: string,
  step: number,
  { accountId: account_id, request }: FlowParts,
): Promise<Action> => {
  const { from_number, to_number } = call.params;
  const content: FlowRequest = {
    call_id: call.id,
    account_id,
    from_number,
    to_number,
    direction: "outbound",
  };
  const init = {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(content),
  };
  const { signal } = call.over;
  const { ms, response, body, error } = await request(url, init, {
    limit: maxResponse,
    redirects: "origin",
    local: call.local,
    signal,
  });
  const status = response && { status: response.status };
  try {
    if (error) throw new FlowError(step, "flow_url", `gave no answer: ${error}`);
    if (!response?.ok) throw new FlowError(step, "flow_url", `answered HTTP ${response?.status}`);
    if (!body?.isWhole) throw new FlowError(step, "flow_url", "answered more than 64 KiB");
    const { action, unknown } = parseAction(body.bytes, call, step);
    const more = unknown.length > 0 && { unknown_fields: unknown };
    call.log({ type: "flow", step, url, ms, ...status, action, ...more });
    return action;
  } catch (failure) {
    call.log({ type: "flow", step, url, ms, ...status });
    throw failure;
  }
};

const perform = ({ call, action, step }: Step, parts: FlowParts): Promise<string | undefined> => {
  const at = { call, step, place: "" };
  switch (action.action) {
    case "play":
      return play({ ...at, action }, parts);
    case "stream":
      return stream({ ...at, action }, parts);
    case "dial":
      return dial({ ...at, action }, parts);
    case "hangup":
      return hangup({ ...at, action }, parts);
  }
};

const maxSteps = 50;

/** Follows the flow of an answered call until the flow or the call ends. */
const followFlow = async (call: Call, parts: FlowParts): Promise<void> => {
  let step = 1;
  try {
    for (let url: string | undefined = call.params.flow_url; url !== undefined; step++) {
      if (step > maxSteps) throw new FlowError(step, "flow_url", `is one of more than ${maxSteps}`);
      const action = await requestAction(call, url, step, parts);
      url = await perform({ call, action, step, place: "" }, parts);
      if (call.isOver) return;
    }
    call.transition("normal");
  } catch (error) {
    // A failure because the call is over is not an error of the flow.
    if (call.isOver) return;
    const { field, message } =
      error instanceof FlowError
        ? error
        : new FlowError(step, "flow_url", `failed: ${messageOf(error)}`);
    call.log({ type: "flow_error", step, field, message });
    call.fail(message);
  }
};

/** What the callee's telephone will do, by `onCall` or by its number. */
const decideOutcome = async (
  call: Call,
  { onCall, responseTimeout }: CallParts,
): Promise<Outcome> => {
  const { outcome } = scenarioOf(call.params.to_number);
  if (!onCall) return outcome;
  const late = () => new Error(`gave nothing within ${responseTimeout} ms`);
  try {
    const decided = await withDeadline(responseTimeout, call.over.signal, late, async () =>
      onCall(call.toRecord()),
    );
    return decided === undefined ? outcome : parseOutcome(decided);
  } catch (error) {
    if (!call.isOver) call.log({ type: "error", source: "onCall", message: messageOf(error) });
    return outcome;
  }
};

const scriptedCallee = (call: Call, script: Callee): ScriptedCallee => {
  const { id, recording } = call;
  const { from_number, to_number } = call.params;
  const view: CalleeCall = {
    id,
    from_number,
    to_number,
    get ms() {
      return callee.ms;
    },
    get played() {
      return audioOf(recording, call.talkTime).played;
    },
  };
  const start = () => (typeof script === "function" ? script(view) : script);
  const callee: ScriptedCallee = new ScriptedCallee(start, {
    recording,
    hangUp: () => call.transition("normal"),
    onError: (error) => call.log({ type: "error", source: "callee", message: messageOf(error) }),
  });
  return callee;
};

/** Runs a call from dialling to its end. */
export const runCall = async (call: Call, parts: CallParts): Promise<void> => {
  const outcome = await decideOutcome(call, parts);
  await dialLeg(call, outcome, parts);
  if (call.state !== "answered") return;
  if (parts.callee) call.callee = scriptedCallee(call, parts.callee);
  call.timeline.after(parts.maxDuration, () => call.transition("max_duration"));
  const { hangUpAfter } = outcome.outcome === "answer" ? outcome : {};
  if (hangUpAfter === "midway") call.hangsUpMidway = true;
  else if (hangUpAfter !== undefined) {
    call.timeline.after(hangUpAfter, () => call.transition("normal"));
  }
  await followFlow(call, parts);
};
