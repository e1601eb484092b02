import type { Message } from "../call.ts";
import { waitUntil } from "../line.ts";
import {
  actionOf,
  attributeOf,
  begin,
  methodOf,
  numberOf,
  requestAfter,
  resolve,
  type Then,
  type Verb,
  type VerbContext,
} from "./context.ts";
import type { MarkupElement } from "./document.ts";
import { type Receiver, type RecordingEventName, recordingEvents } from "./fields.ts";
import { messageTo } from "./notifications.ts";
import { beginRecording, endRecording } from "./recorder.ts";
import { type CallRecording, lastLoud, secondsOf } from "./recordings.ts";
import type { Fields } from "./requests.ts";

/** How a carrier's `Record` differs from that of the others. */
export interface RecordRules {
  /** Seconds of silence that end it by default; 0 is none. */
  readonly timeout: number;
  /** Whether the silence before the callee speaks counts. */
  readonly countsFirstSilence: boolean;
  /** Whether it is without the silence at its beginning and its end by default. */
  readonly trim: "trim-silence" | "do-not-trim";
  readonly channels: 1 | 2;
  /** Whether one without a sound is none, after which the next verb is performed. */
  readonly skipsEmpty: boolean;
}

/** The beep before a recording. */
const beepHertz = 1_000;
const beepDuration = 500;

/** The longest recording, in seconds: four hours. */
const maxRecording = 14_400;

const beep = async ({ known: { call }, signal }: VerbContext): Promise<void> => {
  const from = call.talkTime;
  call.recording.media.addTone(beepHertz, from, from + beepDuration);
  await waitUntil(call, from + beepDuration, () => !signal.aborted);
};

/** Who is notified of a recording, by the attributes of its verb. */
export const receiverOf = (
  element: MarkupElement,
  context: VerbContext,
): Receiver<RecordingEventName> | undefined => {
  const given = attributeOf(element, "recordingStatusCallback", context);
  if (!given) return;
  const url = resolve(context, `${element.name}.recordingStatusCallback`, given);
  const method = methodOf(attributeOf(element, "recordingStatusCallbackMethod", context));
  const wanted = (
    attributeOf(element, "recordingStatusCallbackEvent", context) ?? "completed"
  ).split(/[\s,]+/);
  return { url, method, events: new Set(recordingEvents.filter((each) => wanted.includes(each))) };
};

/** Waits for what ends a recording: a key, silence, its longest duration, or the end of the call. */
const recordUntil = async (
  element: MarkupElement,
  context: VerbContext,
  from: number,
): Promise<string | undefined> => {
  const { known, signal, carrier } = context;
  const { call } = known;
  const { timeout, countsFirstSilence } = carrier.recordRules;
  const silence = numberOf(element, "timeout", context, timeout) * 1_000;
  const limit = numberOf(element, "maxLength", context, 3_600) || maxRecording;
  const end = from + Math.min(limit, maxRecording) * 1_000;
  const keys = attributeOf(element, "finishOnKey", context) ?? "1234567890*#";
  let key: string | undefined;
  const onKey = (digit: string) => {
    if (!keys.includes(digit)) return;
    key ??= digit;
    call.timeline.skip();
  };
  const continues = () => key === undefined && !signal.aborted;
  call.keyListeners.add(onKey);
  try {
    let lastSound = countsFirstSilence ? from : undefined;
    for (let now = from; now < end && continues(); now = call.talkTime) {
      // Silence that isn't over yet can't end it, so the audio is judged once it could be.
      const until = silence > 0 ? (lastSound ?? now) + silence : end;
      await waitUntil(call, Math.min(until, end), continues);
      const loud = lastLoud(call.recording, now, call.talkTime) ?? lastSound;
      if (lastSound !== undefined && loud === lastSound && call.talkTime >= until) break;
      lastSound = loud;
    }
  } finally {
    call.keyListeners.delete(onKey);
  }
  return key;
};

/** What a recording means for the flow. */
interface Recorded {
  readonly recording: CallRecording;
  /** The key that ended it. */
  readonly key: string | undefined;
}

/** Continues at `action`; the response for a call that is over has no effect. */
const continueAfter = (
  element: MarkupElement,
  context: VerbContext,
  { recording, key }: Recorded,
): Then => {
  const { known, carrier, notify, signal, url: own } = context;
  const { call } = known;
  const digits = call.isOver ? "hangup" : key;
  const fields: Fields = {
    RecordingUrl: known.recordingUrl(recording.sid),
    RecordingSid: recording.sid,
    RecordingDuration: String(secondsOf(recording)),
    ...(digits !== undefined && { Digits: digits }),
  };
  if (!call.isOver) return signal.aborted ? "next" : requestAfter(element, context, fields);
  const method = methodOf(attributeOf(element, "method", context));
  const ownTarget = carrier.requestsOwnUrl && own ? { url: own, method } : undefined;
  const target = actionOf(element, context, fields) ?? ownTarget;
  if (target && "url" in target) {
    const event = "record action";
    const all = { ...carrier.callFields(known), ...fields };
    notify(messageTo(target, { id: `${recording.sid}-action`, event, fields: all }, carrier));
  }
  return "end";
};

/** Records what the callee says. */
export const record: Verb = async (element, context) => {
  const { known, carrier, signal, notify } = context;
  const { call } = known;
  const { trim, channels, skipsEmpty } = carrier.recordRules;
  const receiver = receiverOf(element, context);
  begin(context, element);
  if (attributeOf(element, "playBeep", context) !== "false") await beep(context);
  call.endPrompts();
  if (signal.aborted) return "end";
  const from = call.talkTime;
  const { recording, messages } = beginRecording(
    known,
    {
      source: "RecordVerb",
      channels: attributeOf(element, "channels", context) === "single" ? 1 : channels,
      track: channels === 1 ? "inbound" : "both",
      receiver,
    },
    carrier,
  );
  const notifyAll = (all: readonly Message[]) => {
    for (const message of all) notify(message);
  };
  notifyAll(messages);
  const key = await recordUntil(element, context, from);
  const isAbsent = skipsEmpty && lastLoud(call.recording, from, call.talkTime) === undefined;
  const isTrimmed = (attributeOf(element, "trim", context) ?? trim) === "trim-silence";
  notifyAll(endRecording(known, recording, carrier, { trims: isTrimmed, isAbsent }));
  if (isAbsent) return "next";
  return continueAfter(element, context, { recording, key });
};
