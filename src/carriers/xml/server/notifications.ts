import type { Message, StoredMessage } from "../../../server/call.ts";
import type { CallState } from "../../../server/history.ts";
import type { CallRecording, MarkupCall } from "./call.ts";
import type { CallEventName, RecordingEventName, Target } from "./fields.ts";
import { type Fields, formRequest, type RequestCarrier } from "./requests.ts";

/** What became of a stream. */
export type StreamEvent = "started" | "stopped" | "failed";

/** A stream, as its notifications describe it. */
export interface StreamFacts {
  readonly streamSid: string;
  readonly name: string | undefined;
  readonly event: StreamEvent;
  /** Why it failed. */
  readonly error: string | undefined;
}

/** The notifications of a carrier. */
export interface NotificationCarrier extends RequestCarrier {
  /** Milliseconds until a notification is sent again; `undefined` when it is given up. */
  readonly retryDelay: (
    url: string,
    ...after: Parameters<Message["retryDelay"]>
  ) => number | undefined;
  /** Makes the headers that all attempts of a notification have. */
  readonly notificationHeaders: () => Readonly<Record<string, string>>;
  /** Whether a call that is canceled before it rings has an event. */
  readonly reportsUnrung: boolean;
  /** The fields of an event of a call. */
  readonly statusFields: (call: MarkupCall, event: CallEventName, sequence: number) => Fields;
  /** The SID of a call's recording. */
  readonly recordingSid: (callSid: string) => string;
  /** The fields of an event of a recording. */
  readonly recordingFields: (
    call: MarkupCall,
    recording: CallRecording,
    event: RecordingEventName,
  ) => Fields;
  /** The fields of the notification of what answered, after so many milliseconds. */
  readonly detectionFields: (call: MarkupCall, duration: number) => Fields;
  /** The fields of an event of a stream. */
  readonly streamFields: (call: MarkupCall, facts: StreamFacts) => Fields;
}

/** The names of the events that states of a call cause. */
const eventOf: Readonly<Record<CallState, CallEventName>> = {
  initiated: "initiated",
  ringing: "ringing",
  answered: "answered",
  completed: "completed",
  failed: "completed",
};

/** What a notification is about. */
interface Subject {
  readonly id: string;
  readonly event: string;
  readonly fields: Fields;
}

/**
 * Signs a notification, and plans its attempts.
 *
 * @param given - its URL with the fragment, which may have settings of the connection
 */
export const messageFrom = (
  stored: StoredMessage,
  { sign, retryDelay }: Pick<NotificationCarrier, "sign" | "retryDelay">,
  given: string = stored.url,
): Message => {
  const { url, body, fixed } = stored;
  const fields = Object.fromEntries(new URLSearchParams(body));
  return {
    ...stored,
    headers: async () => ({ ...fixed, ...(await sign({ url, body, fields })) }),
    retryDelay: (attempts, delivery) => retryDelay(given, attempts, delivery),
  };
};

/** A notification to a target. */
export const messageTo = (
  { url, method }: Target,
  { id, event, fields }: Subject,
  carrier: NotificationCarrier,
): Message => {
  const sent = formRequest(url, method, fields);
  const fixed = { ...sent.headers, ...carrier.notificationHeaders() };
  return messageFrom({ id, event, url: sent.url, method, body: sent.body, fixed }, carrier, url);
};

const statusMessages = (call: MarkupCall, carrier: NotificationCarrier): readonly Message[] => {
  const { served, fields } = call;
  const { status } = fields;
  const event = eventOf[served.state];
  if (!status?.events.has(event)) return [];
  const isUnrung = served.facts.reason === "canceled" && !call.hasRung;
  if (isUnrung && !carrier.reportsUnrung) return [];
  const sequence = call.eventCount++;
  const body = carrier.statusFields(call, event, sequence);
  return [messageTo(status, { id: `${served.id}-${sequence}`, event, fields: body }, carrier)];
};

/** The event of a recording that a state of its call causes. */
const recordingEventOf: Readonly<Partial<Record<CallState, RecordingEventName>>> = {
  answered: "in-progress",
  failed: "absent",
  completed: "completed",
};

/** The event of a recording, for whoever receives it. */
export const recordingMessages = (
  call: MarkupCall,
  recording: CallRecording,
  event: RecordingEventName,
  carrier: NotificationCarrier,
): readonly Message[] => {
  const { sid, receiver } = recording;
  if (!receiver?.events.has(event)) return [];
  const fields = carrier.recordingFields(call, recording, event);
  return [
    messageTo(receiver, { id: `${sid}-${event}`, event: `recording ${event}`, fields }, carrier),
  ];
};

/** Begins and ends the recording of the whole call. */
const wholeRecording = (
  call: MarkupCall,
  event: RecordingEventName,
  carrier: NotificationCarrier,
): CallRecording => {
  const { served, fields } = call;
  const sid = carrier.recordingSid(served.id);
  const begun = call.recordings.find((one) => one.sid === sid);
  const recording: CallRecording = begun ?? {
    sid,
    source: "OutboundAPI",
    channels: 1,
    track: "both",
    from: 0,
    status: event === "in-progress" ? event : "absent",
    receiver: fields.recording,
  };
  if (event === "in-progress") call.recordings.push(recording);
  if (event === "completed") {
    recording.to = served.talkTime;
    recording.status = event;
  }
  return recording;
};

const wholeRecordingMessages = (
  call: MarkupCall,
  carrier: NotificationCarrier,
): readonly Message[] => {
  const event = recordingEventOf[call.served.state];
  if (!call.fields.record || !event) return [];
  return recordingMessages(call, wholeRecording(call, event, carrier), event, carrier);
};

/** The notifications that are due when the state of a call has changed. */
export const messagesOf = (call: MarkupCall, carrier: NotificationCarrier): readonly Message[] => {
  if (call.served.state === "ringing") call.hasRung = true;
  return [...statusMessages(call, carrier), ...wholeRecordingMessages(call, carrier)];
};

/** The notification of what answered. */
export const detectionMessage = (
  call: MarkupCall,
  target: Target,
  duration: number,
  carrier: NotificationCarrier,
): Message => {
  const fields = carrier.detectionFields(call, duration);
  return messageTo(
    target,
    { id: `${call.served.id}-amd`, event: "machine detection", fields },
    carrier,
  );
};

/** The notification that a stream has started, was stopped, or failed. */
export const streamMessage = (
  call: MarkupCall,
  target: Target,
  facts: StreamFacts,
  carrier: NotificationCarrier,
): Message => {
  const event = `stream-${facts.event}`;
  const fields = carrier.streamFields(call, facts);
  return messageTo(target, { id: `${facts.streamSid}-${event}`, event, fields }, carrier);
};
