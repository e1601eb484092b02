import { safeParse } from "valibot";
import type { Dial, Hangup, Play, Stream } from "../../flows/actions.ts";
import type { FlowRequest } from "../../flows/handler.ts";
import {
  type ActionName,
  basicActions,
  WireAction,
  wireActions,
  wireFieldsOf,
} from "../../flows/wire.ts";
import { parseJson } from "../../lib/body.ts";
import { isRecord } from "../../lib/check.ts";
import type { Call } from "../call.ts";
import type { Reason } from "../history.ts";
import {
  dialSecondLeg,
  FlowError,
  type FlowParts,
  mediaDuration,
  planHangup,
  playTone,
} from "../line.ts";
import { messageOf } from "../outgoing.ts";
import { runStream } from "../stream.ts";
import { outdialCodec } from "./messages.ts";
import { performGather, performSay } from "./speech.ts";

/** One action of one call. */
interface Step<A extends WireAction = WireAction> {
  readonly call: Call;
  readonly action: A;
  /** Counts the requests to the flow from 1. */
  readonly step: number;
  /** Where the action is in the flow's response: empty, or such as `on_busy.`. */
  readonly place: string;
}

/** Performs an action, and returns the URL of the next one, if there is one. */
type Perform<A extends WireAction> = (
  step: Step<A>,
  parts: FlowParts,
) => Promise<string | undefined>;

/**
 * Logs the beginning of an action.
 *
 * @param duration - milliseconds, if known
 */
const begin = ({ call, action, step }: Step, duration?: number): void => {
  call.log({ type: "action", step, action, ...(duration !== undefined && { duration }) });
  planHangup(call, duration);
};

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
  const plain = call.local ? undefined : plainUrlField(output, "");
  if (plain) throw new FlowError(step, plain, "must be https or wss, as the service is remote");
  return { action: output, unknown };
};

/** A request for an action. */
interface ActionRequest {
  readonly url: string;
  readonly digits: string | undefined;
  readonly step: number;
  readonly announced: readonly ActionName[] | undefined;
}

/**
 * Requests the next action of a flow.
 *
 * @throws {FlowError} when the response is not an action
 */
const requestAction = async (
  call: Call,
  { url, digits, step, announced }: ActionRequest,
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
    if (!(announced ?? basicActions).includes(action.action)) {
      throw new FlowError(step, "action", "must be play, stream, dial or hangup");
    }
    const more = unknown.length > 0 && { unknown_fields: unknown };
    call.log({ type: "flow", step, url, ms, ...status, action, ...more });
    return action;
  } catch (failure) {
    call.log({ type: "flow", step, url, ms, ...status });
    throw failure;
  }
};

/** Ends the call. */
const hangup: Perform<Hangup> = async (step) => {
  begin(step);
  return undefined;
};

const play: Perform<Play> = async (playing, parts) => {
  const { call, step, place } = playing;
  const { media_url: url, flow_url } = playing.action;
  const { signal } = call.over;
  const source = { step, field: `${place}media_url`, url, signal };
  const duration = await mediaDuration(call, source, parts.request);
  if (signal.aborted) return;
  begin(playing, duration);
  await playTone(call, duration);
  call.endPrompts();
  return flow_url;
};

const sampleRates = { "8k": 8_000, "16k": 16_000 } as const;

const stream: Perform<Stream> = async (streaming, parts) => {
  const { call, action, step, place } = streaming;
  const { ws_url, sample_rate = "8k", chunk_size = 400, record = true, flow_url } = action;
  const { accountId: account_id, newId } = parts;
  const onOpen = () => {
    begin(streaming);
    return outdialCodec({
      account_id,
      call_id: call.id,
      stream_id: `st_${newId(call.timeline.now())}`,
      sampleRate: sampleRates[sample_rate],
      frameDuration: chunk_size,
    });
  };
  const { signal } = call.over;
  const field = `${place}ws_url`;
  await runStream(call, { step, field, url: ws_url, record, signal, onOpen }, parts);
  return flow_url;
};

/** The branch of a `dial` for each reason why its second leg failed. */
const branches: Readonly<Partial<Record<Reason, "on_busy" | "on_no_answer" | "on_failure">>> = {
  busy: "on_busy",
  no_answer: "on_no_answer",
  rejected: "on_failure",
  unreachable: "on_failure",
};

const dial: Perform<Dial> = async (dialling, parts) => {
  const { call, action, step } = dialling;
  const { to, timeout = 30, record = false, flow_url } = action;
  begin(dialling);
  const { signal } = call.over;
  const ringing = { ringDuration: parts.ringDuration, answerTimeout: timeout * 1000 };
  const { reason } = await dialSecondLeg(call, { step, to, record, signal, ...ringing });
  const branch = reason && branches[reason];
  const next = branch && action[branch];
  if (!next || call.isOver) return flow_url;
  if (next.action === "hangup") return;
  return play({ call, action: next, step, place: `${branch}.` }, parts);
};

/** The request for the next action. */
interface Next {
  /** Absent when no action follows. */
  readonly url: string | undefined;
  /** The keys that were pressed. */
  readonly digits?: string;
}

const perform = async ({ call, action, step }: Step, parts: FlowParts): Promise<Next> => {
  const at = { call, step, place: "" };
  switch (action.action) {
    case "play":
      return { url: await play({ ...at, action }, parts) };
    case "stream":
      return { url: await stream({ ...at, action }, parts) };
    case "dial":
      return { url: await dial({ ...at, action }, parts) };
    case "hangup":
      return { url: await hangup({ ...at, action }, parts) };
    case "say":
      return { url: await performSay({ call, action, step }, parts) };
    case "gather":
      return { url: action.flow_url, digits: await performGather({ call, action, step }, parts) };
  }
};

const maxSteps = 50;

/**
 * Follows the flow of an answered call until the flow or the call ends.
 *
 * @param announced - the actions of the service, in each request; absent for one that has the basic four
 */
export const followActions = async (
  call: Call,
  parts: FlowParts,
  announced: readonly ActionName[] | undefined,
): Promise<void> => {
  let step = 1;
  try {
    for (let next: Next = { url: call.params.flow_url }; next.url !== undefined; step++) {
      if (step > maxSteps) throw new FlowError(step, "flow_url", `is one of more than ${maxSteps}`);
      const { url, digits } = next;
      const action = await requestAction(call, { url, digits, step, announced }, parts);
      next = await perform({ call, action, step, place: "" }, parts);
      if (call.isOver) return;
    }
  } catch (error) {
    if (error instanceof FlowError) throw error;
    throw new FlowError(step, "flow_url", `failed: ${messageOf(error)}`);
  }
};
