import { fieldsOf, isText } from "../../lib/check.ts";
import type { Call } from "../call.ts";
import { iso } from "../history.ts";
import { dialSecondLeg, FlowError, mediaDuration, speechDuration, waitUntil } from "../line.ts";
import { isAllowed } from "../outgoing.ts";
import { runStream } from "../stream.ts";
import type { Fields } from "./call.ts";
import {
  type ActionContext,
  ask,
  begin,
  fail,
  numberOf,
  type Perform,
  prompt,
  type Then,
  targetOf,
  urlOf,
} from "./context.ts";
import { e164, type NccoAction, type Target } from "./fields.ts";
import { input } from "./input.ts";
import { ConnectedLeg, endRecording } from "./notifications.ts";
import { sampleRates, webSocketCodec } from "./websocket.ts";

/** The most characters of a `talk`, without tags. */
const maxSpoken = 1_500;

const talk: Perform = async (action, context) => {
  const { text } = action;
  if (!isText(text)) return fail(context, "talk.text", "must be a string");
  const spoken = text.replace(/<[^>]*>/g, "");
  if (spoken.length > maxSpoken)
    return fail(context, "talk.text", `must be at most ${maxSpoken} characters, without tags`);
  return prompt(action, context, speechDuration(spoken));
};

const stream: Perform = async (action, context) => {
  const { step, signal, known, parts } = context;
  const url = urlOf(context, "stream.streamUrl", action.streamUrl);
  const source = { step, field: "stream.streamUrl", url, signal };
  const once = await mediaDuration(known.call, source, parts.request);
  return signal.aborted ? undefined : prompt(action, context, once);
};

const wait: Perform = async (action, context) => {
  const seconds = numberOf(context, "wait.timeout", action.timeout, [0.1, 7_200], 10);
  begin(context, action, seconds * 1_000);
  const { call } = context.known;
  await waitUntil(call, call.talkTime + seconds * 1_000, () => !context.signal.aborted);
  return;
};

const notify: Perform = async (action, context) => {
  if (action.eventUrl === undefined) return fail(context, "notify.eventUrl", "is missing");
  const payload = fieldsOf(action.payload);
  begin(context, action);
  const { conversation, call } = context.known;
  const timestamp = iso(call.timeline.now());
  return ask(context, targetOf(context, action), {
    payload,
    conversation_uuid: conversation,
    timestamp,
  });
};

/** The least amplitude that isn't silence. */
const audible = 500;

/** Milliseconds between two looks whether the callee is silent. */
const silenceInterval = 100;

const isSilent = (call: Call, from: number, to: number): boolean => {
  const sampleRate = 8_000;
  const mixing = { sampleRate, now: to, all: true };
  const samples = call.recording.side("callee", from * 8, (to - from) * 8, mixing);
  return samples.every((sample) => Math.abs(sample) < audible);
};

/** Waits for what ends a recording: a key, silence, or its longest duration. */
const recordUntil = async (action: NccoAction, context: ActionContext): Promise<void> => {
  const { call } = context.known;
  const limit = numberOf(context, "record.timeOut", action.timeOut, [3, 7_200], 7_200) * 1_000;
  const silence = action.endOnSilence;
  const quiet = numberOf(context, "record.endOnSilence", silence, [3, 10], 3) * 1_000;
  const from = call.talkTime;
  let isEnded = false;
  const onKey = (digit: string) => {
    if (digit !== action.endOnKey) return;
    isEnded = true;
    call.timeline.skip();
  };
  call.keyListeners.add(onKey);
  const continues = () => !isEnded && !context.signal.aborted && call.talkTime < from + limit;
  const tick = silence === undefined ? limit : silenceInterval;
  try {
    while (continues()) {
      await waitUntil(call, Math.min(call.talkTime + tick, from + limit), continues);
      const now = call.talkTime;
      if (silence !== undefined && now - from >= quiet && isSilent(call, now - quiet, now)) return;
    }
  } finally {
    call.keyListeners.delete(onKey);
  }
};

/** Begins to record, in the place of what was recorded before. */
const beginRecording = (action: NccoAction, context: ActionContext): void => {
  const { known, sign } = context;
  const { call } = known;
  const events = targetOf(context, action);
  context.notify(endRecording(known, sign));
  const id = context.newUuid();
  known.recordings.push(id);
  known.recording = { id, from: call.talkTime, events };
  call.recording.resume(call.talkTime);
};

/** Ends the recording, unless the end of the call has ended it. */
const stopRecording = ({ known, sign, notify: send }: ActionContext): void => {
  const { call } = known;
  if (call.isOver) return;
  call.recording.pause(call.talkTime);
  send(endRecording(known, sign));
};

const record: Perform = async (action, context) => {
  begin(context, action);
  beginRecording(action, context);
  const { endOnSilence, endOnKey, timeOut } = action;
  const isSynchronous = [endOnSilence, endOnKey, timeOut].some((value) => value !== undefined);
  if (!isSynchronous) return;
  await recordUntil(action, context);
  stopRecording(context);
  return;
};

/** How long the other participant of a conversation needs to join, in milliseconds. */
const joinDelay = 1_000;

/** Lets the callee join a conversation. Somebody else joins after a second, talks for five and ends it. */
const conversation: Perform = async (action, context) => {
  const { known, step, signal } = context;
  const { name } = action;
  if (!isText(name) || name === "") return fail(context, "conversation.name", "must be a text");
  const isRecorded = action.record === true || action.record === "true";
  begin(context, action);
  if (isRecorded) beginRecording(action, context);
  const times = { ringDuration: joinDelay, answerTimeout: joinDelay };
  const to = `conversation:${name}`;
  await dialSecondLeg(known.call, { step, to, record: true, signal, ...times });
  if (isRecorded) stopRecording(context);
  return;
};

/** How the events of a connected leg are sent. */
interface LegEvents {
  readonly leg: ConnectedLeg;
  readonly target: Target | undefined;
  /** Whether the response to a failure replaces the NCCO. */
  readonly isSynchronous: boolean;
}

const legOf = (
  action: NccoAction,
  context: ActionContext,
  from: string,
  to: string,
): LegEvents => ({
  leg: new ConnectedLeg(context.known, context.newUuid(), { from, to }),
  target: targetOf(context, action),
  isSynchronous: action.eventType === "synchronous" && action.eventUrl !== undefined,
});

/** Sends the event by which a leg failed: the response to a synchronous one may replace the NCCO. */
const sendFailure = async (
  context: ActionContext,
  events: LegEvents,
  fields: Fields,
): Promise<Then> => {
  const { leg, target, isSynchronous } = events;
  if (isSynchronous) return ask(context, target, fields);
  context.notify(leg.message(fields, { target, sign: context.sign }));
  return;
};

/** Calls a telephone or a SIP address. */
const dial = async (action: NccoAction, context: ActionContext, to: string): Promise<Then> => {
  const { known, step, signal, parts, sign } = context;
  const { call } = known;
  const { from = call.params.from_number.replace("+", "") } = action;
  if (!isText(from)) return fail(context, "connect.from", "must be a number");
  const events = legOf(action, context, from, to);
  const { leg, target } = events;
  const answerTimeout =
    numberOf(context, "connect.timeout", action.timeout, [1, 7_200], 60) * 1_000;
  const maxDuration = numberOf(context, "connect.limit", action.limit, [1, 86_400], 7_200) * 1_000;
  begin(context, action);
  const notify = (fields: Fields) => context.notify(leg.message(fields, { target, sign }));
  const { reason, talkTime } = await dialSecondLeg(call, {
    step,
    to,
    record: true,
    signal,
    ringDuration: parts.ringDuration,
    answerTimeout,
    maxDuration,
    onState: ({ state, reason: why }) => {
      if (state === "initiated") notify(leg.fields("started"));
      if (state === "ringing") notify(leg.fields("ringing"));
      if (state === "answered") {
        leg.answered();
        notify(leg.fields("answered"));
      }
      if (state === "completed") notify(leg.completedFields());
      // A leg that ends with its call decides nothing.
      const failed = state === "failed" && call.isOver && leg.failedFields(why);
      if (failed) notify(failed);
    },
  });
  if (talkTime !== undefined || call.isOver) return;
  const failed = leg.failedFields(reason);
  const then = failed && (await sendFailure(context, events, failed));
  if (reason !== "rejected") notify(leg.completedFields());
  return then;
};

/** The headers of the handshake. */
const handshakeOf = (
  context: ActionContext,
  authorization: unknown,
): Readonly<Record<string, string>> | undefined => {
  const { type, value } = fieldsOf(authorization);
  if (type === "vonage") return { Authorization: `Bearer ${context.sign("")}` };
  return type === "custom" && isText(value) ? { Authorization: value } : undefined;
};

/** Connects a WebSocket until either side ends it. */
const connectSocket = async (
  action: NccoAction,
  context: ActionContext,
  endpoint: Fields,
): Promise<Then> => {
  const { known, step, signal, parts, sign } = context;
  const { call } = known;
  const { uri, headers, authorization } = endpoint;
  const type = endpoint["content-type"] ?? "audio/l16;rate=16000";
  const rate = Number(/^audio\/l16;\s*rate=(\d+)$/.exec(String(type))?.[1]);
  if (!sampleRates.has(rate)) {
    const rule = "must be audio/l16;rate=8000, 16000 or 24000";
    return fail(context, "connect.endpoint.content-type", rule);
  }
  const field = "connect.endpoint.uri";
  if (!isText(uri) || !/^wss?:/i.test(uri)) return fail(context, field, "must be wss");
  if (!isAllowed(uri.replace(/^ws/i, "http"), call.local))
    return fail(context, field, "must be wss");
  const events = legOf(action, context, call.params.from_number, uri);
  const { leg, target } = events;
  const notify = (fields: Fields) => context.notify(leg.message(fields, { target, sign }));
  const id = context.newUuid();
  const codec = webSocketCodec({ id, sampleRate: rate, headers: fieldsOf(headers) });
  notify(leg.fields("started"));
  const onOpen = () => {
    begin(context, action);
    call.keyListeners.add(codec.press);
    leg.answered();
    notify(leg.fields("answered"));
    return codec;
  };
  const socket = { step, field, url: uri, headers: handshakeOf(context, authorization) };
  let then: Then;
  try {
    await runStream(call, { ...socket, record: true, signal, onOpen }, parts);
    // If the call is not over, the application has closed it.
    const isDisconnected = !call.isOver && !signal.aborted;
    if (isDisconnected) then = await sendFailure(context, events, leg.fields("disconnected"));
  } catch (error) {
    if (!(error instanceof FlowError) || call.isOver) throw error;
    then = await sendFailure(context, events, leg.fields("failed"));
    if (!then && context.isLast) throw error;
    call.log({ type: "flow_error", step, field, message: error.message });
  } finally {
    call.keyListeners.delete(codec.press);
  }
  notify(leg.completedFields());
  return then;
};

const connect: Perform = async (action, context) => {
  const list: unknown[] = Array.isArray(action.endpoint) ? action.endpoint : [];
  const endpoint = fieldsOf(list[0]);
  if (list.length !== 1) return fail(context, "connect.endpoint", "must be a list of one endpoint");
  const { type, number, uri } = endpoint;
  if (type === "websocket") return connectSocket(action, context, endpoint);
  if (type === "phone") {
    if (isText(number) && /^[1-9]\d{6,14}$/.test(number))
      return dial(action, context, e164(number));
    return fail(context, "connect.endpoint.number", "must be 7 to 15 digits, without + and 00");
  }
  if (type !== "sip")
    return fail(
      context,
      "connect.endpoint.type",
      `${type} is not emulated: give phone, sip or websocket`,
    );
  if (isText(uri) && /^sips?:[^\s<>"]+$/i.test(uri)) return dial(action, context, uri);
  return fail(context, "connect.endpoint.uri", "must be a SIP URI");
};

const performers: Readonly<Record<string, Perform>> = {
  talk,
  stream,
  connect,
  conversation,
  record,
  input,
  notify,
  wait,
};

/**
 * Performs an action.
 *
 * @returns the NCCO that replaces the current one, if there is one
 * @throws {FlowError} when it can't be performed
 */
export const perform: Perform = async (action, context) =>
  performers[action.action]?.(action, context);
