import type { Following } from "../../../performer/instructions.ts";
import type { Message } from "../../../server/call.ts";
import { type CallRecording, type MarkupCall, secondsOf, trim } from "./call.ts";
import {
  actionOf,
  attributeOf,
  beginning,
  methodOf,
  numberOf,
  type Request,
  requestAfter,
  requested,
  resolve,
  type Verb,
  type VerbCarrier,
  type VerbContext,
} from "./context.ts";
import type { MarkupElement } from "./document.ts";
import { type Receiver, type RecordingEventName, recordingEvents } from "./fields.ts";
import { messageTo, recordingMessages } from "./notifications.ts";
import type { Fields } from "./requests.ts";

/** What is said of a recording before it begins. */
export type RecordingPlan = Pick<CallRecording, "source" | "channels" | "track" | "receiver">;

/** Begins a recording of a part of a call. */
export const beginRecording = (
  call: MarkupCall,
  plan: RecordingPlan,
  carrier: VerbCarrier,
): { readonly recording: CallRecording; readonly messages: readonly Message[] } => {
  const { served, recordings } = call;
  const recording: CallRecording = {
    ...plan,
    sid: carrier.newSid("recording", served.timeline.now()),
    from: served.talkTime,
    status: "in-progress",
    gaps: [],
  };
  recordings.push(recording);
  return { recording, messages: recordingMessages(call, recording, "in-progress", carrier) };
};

/** How a recording ends. */
export interface RecordingEnd {
  /** Whether the silence at both ends is removed. */
  readonly trims?: boolean;
  /** Whether it is dropped, as it has no sound. */
  readonly isAbsent?: boolean;
}

/** Ends a recording, once. */
export const endRecording = (
  call: MarkupCall,
  recording: CallRecording,
  carrier: VerbCarrier,
  { trims = false, isAbsent = false }: RecordingEnd = {},
): readonly Message[] => {
  const { served, recordings } = call;
  if (recording.to !== undefined) return [];
  recording.to = served.talkTime;
  const gap = recording.gaps?.at(-1);
  if (gap) gap.to = Math.min(gap.to, recording.to);
  recording.status = isAbsent ? "absent" : "completed";
  if (isAbsent) recordings.splice(recordings.indexOf(recording), 1);
  else {
    if (trims) trim(served.audio, recording);
    const seconds = (recording.to - recording.from) / 1_000;
    served.log({ type: "recording", url: call.recordingUrl(recording.sid), seconds });
  }
  return recordingMessages(call, recording, recording.status, carrier);
};

/** Ends the recordings that the API has begun, as their call is over. */
export const endRecordings = (call: MarkupCall, carrier: VerbCarrier): readonly Message[] =>
  call.recordings
    .filter(({ source }) => source === "StartCallRecordingAPI")
    .flatMap((recording) => endRecording(call, recording, carrier));

/** The longest recording, in seconds: four hours. */
const maxRecording = 14_400;

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
): Following<Request> => {
  const { call, carrier, notify, url: own } = context;
  const { served } = call;
  const digits = served.isOver ? "hangup" : key;
  const fields: Fields = {
    RecordingUrl: call.recordingUrl(recording.sid),
    RecordingSid: recording.sid,
    RecordingDuration: String(secondsOf(recording)),
    ...(digits !== undefined && { Digits: digits }),
  };
  if (!served.isOver) return requested(requestAfter(element, context, fields));
  const method = methodOf(attributeOf(element, "method", context));
  const ownTarget = carrier.requestsOwnUrl && own ? { url: own, method } : undefined;
  const target = actionOf(element, context, fields) ?? ownTarget;
  if (target && "url" in target) {
    const event = "record action";
    const all = { ...carrier.callFields(call), ...fields };
    notify(messageTo(target, { id: `${recording.sid}-action`, event, fields: all }, carrier));
  }
  return "end";
};

/** Records what the callee says. */
export const record: Verb = (element, context) => {
  const { call, carrier, notify } = context;
  const { served } = call;
  const { trim, channels, skipsEmpty, timeout, countsFirstSilence } = carrier.recordDefaults;
  const receiver = receiverOf(element, context);
  const isTrimmed = (attributeOf(element, "trim", context) ?? trim) === "trim-silence";
  const limit = numberOf(element, "maxLength", context, 3_600) || maxRecording;
  const notifyAll = (all: readonly Message[]) => {
    for (const message of all) notify(message);
  };
  return {
    type: "record",
    step: beginning(element, context),
    beeps: attributeOf(element, "playBeep", context) !== "false",
    rules: {
      keys: attributeOf(element, "finishOnKey", context) ?? "1234567890*#",
      endSilence: numberOf(element, "timeout", context, timeout) * 1_000,
      countsFirstSilence,
      maxDuration: Math.min(limit, maxRecording) * 1_000,
    },
    begin: () => {
      const from = served.talkTime;
      const plan: RecordingPlan = {
        source: "RecordVerb",
        channels: attributeOf(element, "channels", context) === "single" ? 1 : channels,
        track: channels === 1 ? "inbound" : "both",
        receiver,
      };
      const { recording, messages } = beginRecording(call, plan, carrier);
      notifyAll(messages);
      return (key) => {
        const isAbsent =
          skipsEmpty && served.audio.lastAudible(from, served.talkTime) === undefined;
        notifyAll(endRecording(call, recording, carrier, { trims: isTrimmed, isAbsent }));
        return isAbsent ? "next" : continueAfter(element, context, { recording, key });
      };
    },
  };
};
