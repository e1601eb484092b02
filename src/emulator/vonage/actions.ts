import { fieldsOf, isText } from "../../lib/check.ts";
import type { Call, Message } from "../call.ts";
import { iso } from "../history.ts";
import {
  dialSecondLeg,
  FlowError,
  type FlowParts,
  mediaDuration,
  planHangup,
  playTone,
  waitUntil,
} from "../line.ts";
import { isAllowed } from "../outgoing.ts";
import { runStream } from "../stream.ts";
import { type Fields, subjectOf, type VonageCall } from "./call.ts";
import { e164, type NccoAction, type Target } from "./fields.ts";
import { ConnectedLeg, endRecording } from "./notifications.ts";
import { askForNcco } from "./requests.ts";
import type { SignWebhook } from "./tokens.ts";
import { sampleRates, webSocketCodec } from "./websocket.ts";

/** What the actions of one NCCO need. */
export interface Line {
  readonly known: VonageCall;
  /** Counts the NCCOs of the call from 1. */
  readonly step: number;
  /** Aborts when the call is over or continues elsewhere. */
  readonly signal: AbortSignal;
  readonly parts: FlowParts;
  readonly sign: SignWebhook;
  /** Makes a UUID. */
  readonly newUuid: () => string;
  readonly notify: (messages: readonly Message[]) => void;
  /** Keys that interrupted a prompt: they belong to the next `input`. */
  readonly keys: string[];
  /** Whether no action follows. */
  readonly isLast: boolean;
}

/** What follows an action: the next one, or another NCCO. */
type Then = readonly NccoAction[] | undefined;

type Perform = (action: NccoAction, line: Line) => Promise<Then>;

const fail = ({ step }: Line, field: string, rule: string): never => {
  throw new FlowError(step, field, rule);
};

/** Logs the beginning of an action, with its fields as they came. */
const begin = (
  { known: { call }, step }: Line,
  { action: verb, text, ...fields }: NccoAction,
  duration?: number,
): void => {
  const attributes = Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [
      name,
      isText(value) ? value : JSON.stringify(value),
    ]),
  );
  call.log({
    type: "verb",
    step,
    verb,
    attributes,
    ...(isText(text) && { text }),
    ...(duration !== undefined && { duration }),
  });
  planHangup(call, duration);
};

/** A number of an action; the default where it is missing. */
const numberOf = (
  line: Line,
  field: string,
  value: unknown,
  [least, most]: readonly [least: number, most: number],
  missing: number,
): number => {
  if (value === undefined) return missing;
  // Vonage takes numbers in strings, too.
  const number = isText(value) && value !== "" ? Number(value) : value;
  if (typeof number === "number" && number >= least && number <= most) return number;
  return fail(line, field, `must be from ${least} to ${most}`);
};

/** The one URL of a list, or the URL itself. */
const urlOf = (line: Line, field: string, value: unknown): string => {
  const list: unknown[] = Array.isArray(value) ? value : [value];
  const [url] = list;
  if (list.length !== 1 || !isText(url)) return fail(line, field, "must be a list of one URL");
  if (isAllowed(url, line.known.call.local)) return url;
  return fail(line, field, "must be https, as the service is remote");
};

/** Where the events of an action go: its own URL, or that of the call. */
const targetOf = (
  line: Line,
  { action, eventUrl, eventMethod }: NccoAction,
): Target | undefined => {
  if (eventUrl === undefined) return line.known.fields.events;
  const url = urlOf(line, `${action}.eventUrl`, eventUrl);
  if (eventMethod !== undefined && eventMethod !== "GET" && eventMethod !== "POST") {
    return fail(line, `${action}.eventMethod`, "must be GET or POST");
  }
  return { url, method: eventMethod ?? "POST" };
};

/** Sends an event of an action whose response may replace the NCCO. */
const ask = async (line: Line, target: Target | undefined, fields: Fields): Promise<Then> => {
  if (!target) return;
  const { known, parts, sign, signal, step } = line;
  const request = { known, request: parts.request, sign, signal, step };
  return askForNcco({ target, fields, isOptional: true }, request);
};

/** How often a prompt is repeated whose `loop` is 0, which means until the call is over. */
const endless = 1_000;

/** Milliseconds of speech for each character, and at least. */
const characterDuration = 65;
const minSpeech = 500;

/** Plays a prompt, which a key interrupts if `bargeIn` says so. */
const prompt = async (action: NccoAction, line: Line, once: number): Promise<undefined> => {
  const { known, signal, keys } = line;
  const loops = numberOf(line, `${action.action}.loop`, action.loop, [0, endless], 1) || endless;
  begin(line, action, loops * once);
  const { call } = known;
  const isBarged = () => action.bargeIn === true && keys.length > 0;
  const onKey = (digit: string) => {
    if (action.bargeIn !== true) return;
    keys.push(digit);
    call.timeline.skip();
  };
  call.keyListeners.add(onKey);
  try {
    await playTone(call, loops * once, () => !signal.aborted && !isBarged());
  } finally {
    call.keyListeners.delete(onKey);
  }
};

const talk: Perform = async (action, line) => {
  const { text } = action;
  if (!isText(text)) return fail(line, "talk.text", "must be a string");
  const { length } = text.replace(/<[^>]*>/g, "");
  return prompt(action, line, Math.max(minSpeech, length * characterDuration));
};

const stream: Perform = async (action, line) => {
  const { step, signal, known, parts } = line;
  const url = urlOf(line, "stream.streamUrl", action.streamUrl);
  const source = { step, field: "stream.streamUrl", url, signal };
  const once = await mediaDuration(known.call, source, parts);
  return signal.aborted ? undefined : prompt(action, line, once);
};

const wait: Perform = async (action, line) => {
  const seconds = numberOf(line, "wait.timeout", action.timeout, [0.1, 7_200], 10);
  begin(line, action, seconds * 1_000);
  const { call } = line.known;
  await waitUntil(call, call.talkTime + seconds * 1_000, () => !line.signal.aborted);
  return;
};

const notify: Perform = async (action, line) => {
  if (action.eventUrl === undefined) return fail(line, "notify.eventUrl", "is missing");
  const payload = fieldsOf(action.payload);
  begin(line, action);
  const { conversation, call } = line.known;
  const timestamp = iso(call.timeline.now());
  return ask(line, targetOf(line, action), {
    payload,
    conversation_uuid: conversation,
    timestamp,
  });
};

/** Waits for digits: until there are enough, until `#`, or until none came for a while. */
const takeDigits = async (line: Line, dtmf: Fields): Promise<Fields> => {
  const { known, signal, keys } = line;
  const { call } = known;
  const timeOut = numberOf(line, "input.dtmf.timeOut", dtmf.timeOut, [0, 10], 3) * 1_000;
  const maxDigits = numberOf(line, "input.dtmf.maxDigits", dtmf.maxDigits, [1, 20], 4);
  const ends = dtmf.submitOnHash === true;
  const isComplete = () => keys.length >= maxDigits || (ends && keys.includes("#"));
  for (let before = -1; before !== keys.length && !isComplete() && !signal.aborted; ) {
    before = keys.length;
    const isWaiting = () => !signal.aborted && keys.length === before;
    await waitUntil(call, call.talkTime + timeOut, isWaiting);
  }
  const timed_out = !isComplete();
  const [digits = ""] = ends ? keys.join("").split("#") : [keys.join("")];
  return { digits: digits.slice(0, maxDigits), timed_out };
};

const input: Perform = async (action, line) => {
  const { type = ["dtmf"], dtmf, mode } = action;
  if (!Array.isArray(type) || !type.includes("dtmf")) {
    return fail(line, "input.type", "must include dtmf: no other is emulated");
  }
  if (mode === "asynchronous") return fail(line, "input.mode", "asynchronous is not emulated");
  const target = targetOf(line, action);
  begin(line, action);
  const { known, keys } = line;
  const onKey = (digit: string) => {
    keys.push(digit);
    known.call.timeline.skip();
  };
  known.call.keyListeners.add(onKey);
  try {
    const digits = await takeDigits(line, fieldsOf(dtmf));
    if (line.signal.aborted) return;
    const timestamp = iso(known.call.timeline.now());
    return await ask(line, target, { dtmf: digits, ...subjectOf(known), timestamp });
  } finally {
    keys.length = 0;
    known.call.keyListeners.delete(onKey);
  }
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
const recordUntil = async (action: NccoAction, line: Line): Promise<void> => {
  const { call } = line.known;
  const limit = numberOf(line, "record.timeOut", action.timeOut, [3, 7_200], 7_200) * 1_000;
  const silence = action.endOnSilence;
  const quiet = numberOf(line, "record.endOnSilence", silence, [3, 10], 3) * 1_000;
  const from = call.talkTime;
  let isEnded = false;
  const onKey = (digit: string) => {
    if (digit !== action.endOnKey) return;
    isEnded = true;
    call.timeline.skip();
  };
  call.keyListeners.add(onKey);
  const goesOn = () => !isEnded && !line.signal.aborted && call.talkTime < from + limit;
  const tick = silence === undefined ? limit : silenceInterval;
  try {
    while (goesOn()) {
      await waitUntil(call, Math.min(call.talkTime + tick, from + limit), goesOn);
      const now = call.talkTime;
      if (silence !== undefined && now - from >= quiet && isSilent(call, now - quiet, now)) return;
    }
  } finally {
    call.keyListeners.delete(onKey);
  }
};

const record: Perform = async (action, line) => {
  const { known, sign } = line;
  const { call } = known;
  const events = targetOf(line, action);
  begin(line, action);
  line.notify(endRecording(known, sign));
  const id = line.newUuid();
  known.recordings.push(id);
  known.recording = { id, from: call.talkTime, events };
  call.recording.resume(call.talkTime);
  const { endOnSilence, endOnKey, timeOut } = action;
  const isSynchronous = [endOnSilence, endOnKey, timeOut].some((value) => value !== undefined);
  if (!isSynchronous) return;
  await recordUntil(action, line);
  if (call.isOver) return; // Then the end of the call has ended it.
  call.recording.pause(call.talkTime);
  line.notify(endRecording(known, sign));
  return;
};

/** How the events of a connected leg are sent. */
interface LegEvents {
  readonly leg: ConnectedLeg;
  readonly target: Target | undefined;
  /** Whether the response to a failure replaces the NCCO. */
  readonly isSynchronous: boolean;
}

const legOf = (action: NccoAction, line: Line, from: string, to: string): LegEvents => ({
  leg: new ConnectedLeg(line.known, line.newUuid(), { from, to }),
  target: targetOf(line, action),
  isSynchronous: action.eventType === "synchronous" && action.eventUrl !== undefined,
});

/** Sends the event by which a leg failed: the response to a synchronous one may replace the NCCO. */
const sendFailure = async (line: Line, events: LegEvents, fields: Fields): Promise<Then> => {
  const { leg, target, isSynchronous } = events;
  if (isSynchronous) return ask(line, target, fields);
  line.notify(leg.message(fields, { target, sign: line.sign }));
  return;
};

/** Calls a telephone or a SIP address. */
const dial = async (action: NccoAction, line: Line, to: string): Promise<Then> => {
  const { known, step, signal, parts, sign } = line;
  const { call } = known;
  const { from = call.params.from_number.replace("+", "") } = action;
  if (!isText(from)) return fail(line, "connect.from", "must be a number");
  const events = legOf(action, line, from, to);
  const { leg, target } = events;
  const answerTimeout = numberOf(line, "connect.timeout", action.timeout, [1, 7_200], 60) * 1_000;
  const maxDuration = numberOf(line, "connect.limit", action.limit, [1, 86_400], 7_200) * 1_000;
  begin(line, action);
  const notify = (fields: Fields) => line.notify(leg.message(fields, { target, sign }));
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
  const then = failed && (await sendFailure(line, events, failed));
  if (reason !== "rejected") notify(leg.completedFields());
  return then;
};

/** The headers of the handshake. */
const handshakeOf = (
  line: Line,
  authorization: unknown,
): Readonly<Record<string, string>> | undefined => {
  const { type, value } = fieldsOf(authorization);
  if (type === "vonage") return { Authorization: `Bearer ${line.sign("")}` };
  return type === "custom" && isText(value) ? { Authorization: value } : undefined;
};

/** Connects a WebSocket until either side ends it. */
const connectSocket = async (action: NccoAction, line: Line, endpoint: Fields): Promise<Then> => {
  const { known, step, signal, parts, sign } = line;
  const { call } = known;
  const { uri, headers, authorization } = endpoint;
  const type = endpoint["content-type"] ?? "audio/l16;rate=16000";
  const rate = Number(/^audio\/l16;\s*rate=(\d+)$/.exec(String(type))?.[1]);
  if (!sampleRates.has(rate)) {
    const rule = "must be audio/l16;rate=8000, 16000 or 24000";
    return fail(line, "connect.endpoint.content-type", rule);
  }
  const field = "connect.endpoint.uri";
  if (!isText(uri) || !/^wss?:/i.test(uri)) return fail(line, field, "must be wss");
  if (!isAllowed(uri.replace(/^ws/i, "http"), call.local)) return fail(line, field, "must be wss");
  const events = legOf(action, line, call.params.from_number, uri);
  const { leg, target } = events;
  const notify = (fields: Fields) => line.notify(leg.message(fields, { target, sign }));
  const id = line.newUuid();
  const codec = webSocketCodec({ id, sampleRate: rate, headers: fieldsOf(headers) });
  notify(leg.fields("started"));
  const onOpen = () => {
    begin(line, action);
    call.keyListeners.add(codec.press);
    leg.answered();
    notify(leg.fields("answered"));
    return codec;
  };
  const socket = { step, field, url: uri, headers: handshakeOf(line, authorization) };
  let then: Then;
  try {
    await runStream(call, { ...socket, record: true, signal, onOpen }, parts);
    // The application has closed it, if the call goes on.
    const isDisconnected = !call.isOver && !signal.aborted;
    if (isDisconnected) then = await sendFailure(line, events, leg.fields("disconnected"));
  } catch (error) {
    if (!(error instanceof FlowError) || call.isOver) throw error;
    then = await sendFailure(line, events, leg.fields("failed"));
    if (!then && line.isLast) throw error;
    call.log({ type: "flow_error", step, field, message: error.message });
  } finally {
    call.keyListeners.delete(codec.press);
  }
  notify(leg.completedFields());
  return then;
};

const connect: Perform = async (action, line) => {
  const list: unknown[] = Array.isArray(action.endpoint) ? action.endpoint : [];
  const endpoint = fieldsOf(list[0]);
  if (list.length !== 1) return fail(line, "connect.endpoint", "must be a list of one endpoint");
  const { type, number, uri } = endpoint;
  if (type === "websocket") return connectSocket(action, line, endpoint);
  if (type === "phone") {
    if (isText(number) && /^[1-9]\d{6,14}$/.test(number)) return dial(action, line, e164(number));
    return fail(line, "connect.endpoint.number", "must be 7 to 15 digits, without + and 00");
  }
  if (type !== "sip") return fail(line, "connect.endpoint.type", `${type} is not emulated`);
  if (isText(uri) && /^sips?:[^\s<>"]+$/i.test(uri)) return dial(action, line, uri);
  return fail(line, "connect.endpoint.uri", "must be a SIP URI");
};

const performers: Readonly<Record<string, Perform>> = {
  talk,
  stream,
  connect,
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
export const perform: Perform = async (action, line) => performers[action.action]?.(action, line);
