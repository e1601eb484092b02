import { safeParse } from "valibot";
import type { FlowRequest } from "../../flows/request.ts";
import {
  type ActionName,
  basicActions,
  WireAction,
  wireActions,
  wireFieldsOf,
} from "../../flows/wire.ts";
import { parseJson } from "../../lib/body.ts";
import { isRecord } from "../../lib/check.ts";
import { FlowError } from "../../performer/line.ts";
import { type DocumentContext, Performer } from "../../performer/performer.ts";
import { mostSteps, type ServedCall } from "../call.ts";
import { logFailure, statusIn } from "../outgoing.ts";
import type { FlowParts } from "../side.ts";
import { type ActionRequest, instructionsOf } from "./actions.ts";

/** The largest response of a flow, in bytes. */
const maxResponse = 64 * 1024;

/** How many unknown fields are listed, and how much of each name. */
const maxUnknownFields = 20;
const maxFieldLength = 80;

/** Other names of fields, by action: the deployed service's npm builder writes `file_url`. */
const aliases: Readonly<Partial<Record<ActionName, Readonly<Record<string, string>>>>> = {
  play: { file_url: "media_url" },
};

/** A flow's response, without the fields that no action has. */
interface KnownFields {
  readonly action: unknown;
  /** The fields that were left out, such as `ringback` or `on_busy.volume`; the first 20. */
  readonly unknown: readonly string[];
}

const isActionName = (name: unknown): name is ActionName =>
  typeof name === "string" && Object.hasOwn(wireActions, name);

/**
 * Leaves out the fields that an action, or one nested in it, does not know: services have more of them,
 * and their own builders always write some.
 */
const knownFields = (value: unknown, place = ""): KnownFields => {
  if (!isRecord(value) || !isActionName(value.action)) return { action: value, unknown: [] };
  const fields = wireFieldsOf(value.action);
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

/**
 * The name of the first field with a plain http or ws URL.
 *
 * @param place - what comes before the name, such as `flow.`
 */
export const plainUrlField = (action: object, place: string): string | undefined => {
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
  call: ServedCall,
  step: number,
): { readonly action: WireAction; readonly unknown: readonly string[] } => {
  const value = parseJson(bytes);
  if (value === undefined) throw new FlowError(step, "flow_url", "answered no JSON in UTF-8");
  const { action, unknown } = knownFields(value);
  const { success, output, issues } = safeParse(WireAction, action);
  if (!success) {
    const { path, message } = issues[0];
    const field = path?.map(({ key }) => String(key)).join(".") ?? "the action";
    throw new FlowError(step, field.slice(0, maxFieldLength), message);
  }
  const plain = call.reach.has("loopback") ? undefined : plainUrlField(output, "");
  if (plain) throw new FlowError(step, plain, "must be https or wss, as the service is remote");
  return { action: output, unknown };
};

/**
 * Requests the next action of a flow.
 *
 * @throws {FlowError} when the response is not an action
 */
const requestAction = async (
  call: ServedCall,
  { url, digits, dialed }: Extract<ActionRequest, { readonly url: string }>,
  { step, signal }: DocumentContext,
  announced: readonly string[] | undefined,
  { accountId: account_id, request }: FlowParts,
): Promise<WireAction> => {
  const { from_number, to_number } = call.params;
  const content: FlowRequest = {
    call_id: call.id,
    account_id,
    from_number,
    to_number,
    direction: "outbound",
    ...(announced && { actions: announced }),
    ...(digits !== undefined && { digits }),
    ...(dialed && announced?.includes("dialed") && { dialed }),
  };
  const init = {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(content),
  };
  const { ms, response, body, error } = await request(url, init, {
    limit: maxResponse,
    redirects: "origin",
    reach: call.reach,
    signal,
  });
  const status = response && { status: response.status };
  try {
    if (error) throw new FlowError(step, "flow_url", `gave no answer: ${error}`);
    if (response && !response.ok) {
      throw new FlowError(step, "flow_url", `answered ${statusIn(response)}`);
    }
    if (!body?.isWhole) throw new FlowError(step, "flow_url", "answered more than 64 KiB");
    const { action, unknown } = parseAction(body.bytes, call, step);
    if (!new Set<string>(announced ?? basicActions).has(action.action)) {
      throw new FlowError(step, "action", "must be play, stream, dial or hangup");
    }
    const more = unknown.length > 0 && { unknown_fields: unknown };
    call.log({ type: "flow", step, url, ms, ...status, action, ...more });
    if (response) logFailure(response, step, call);
    return action;
  } catch (failure) {
    call.log({ type: "flow", step, url, ms, ...status });
    throw failure;
  }
};

/** What outdial's own interface has for flows. */
export interface ActionSide {
  /** The actions of the service, in each request; absent for one that has the basic four. */
  readonly announced: readonly string[] | undefined;
  /** Begins a recording of a call, and returns what ends it. */
  readonly beginRecording: (
    call: ServedCall,
    as: string | undefined,
    parts: FlowParts,
  ) => () => void;
}

/** The action that came with the request for the call: it is in no response. */
const givenAction = (call: ServedCall, action: WireAction, step: number): WireAction => {
  call.log({ type: "flow", step, url: "", ms: 0, action });
  return action;
};

/**
 * Follows the flow of an answered call until the flow or the call ends.
 *
 * @throws {FlowError} when it can't be followed
 */
export const followActions = (
  call: ServedCall,
  parts: FlowParts,
  { announced, beginRecording }: ActionSide,
): Promise<void> => {
  const { accountId, newId } = parts;
  const ids = { account_id: accountId, call_id: call.id };
  const { flow } = call.params;
  const newStreamId = () => `st_${newId(call.timeline.now())}`;
  const performer = new Performer<ActionRequest>(parts.line, {
    first: flow ? { action: flow } : { url: call.params.flow_url },
    load: async (request, context) => {
      const { step } = context;
      if (step > mostSteps)
        throw new FlowError(step, "flow_url", `is one of more than ${mostSteps}`);
      const action =
        "action" in request
          ? givenAction(call, request.action, step)
          : await requestAction(call, request, context, announced, parts);
      return instructionsOf(action, {
        ...{ step, place: "", ...ids, newStreamId, acknowledges: !!announced },
        beginRecording: (as) => beginRecording(call, as, parts),
      });
    },
  });
  return performer.perform();
};
